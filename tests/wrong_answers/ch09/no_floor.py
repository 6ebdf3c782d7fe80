"""Short content gets a summary of a few words, in which no heading has room. At least MIN_SUMMARY_TOKENS, where
the ceiling allows it.
"""

FAILS = "test_the_budget"


def summary_budget(content_tokens, context_length):
    ceiling = min(int(context_length * WINDOW_SHARE), MAX_SUMMARY_TOKENS)
    return min(int(content_tokens * SUMMARY_RATIO), ceiling)
