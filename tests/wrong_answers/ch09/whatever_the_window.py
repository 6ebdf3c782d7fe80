"""The window is not looked at: the ceiling is also 5 % of it, WINDOW_SHARE, whichever is smaller."""

FAILS = "test_the_budget"


def summary_budget(content_tokens, context_length):
    return min(max(int(content_tokens * SUMMARY_RATIO), MIN_SUMMARY_TOKENS), MAX_SUMMARY_TOKENS)
