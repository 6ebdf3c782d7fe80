"""In a very large window 5 % is more than anybody reads: MAX_SUMMARY_TOKENS is the limit whatever the window."""

FAILS = "test_the_budget"


def summary_budget(content_tokens, context_length):
    return min(max(int(content_tokens * SUMMARY_RATIO), MIN_SUMMARY_TOKENS), int(context_length * WINDOW_SHARE))
