"""In a small window the floor of 2,000 tokens wins over the ceiling, and one summary fills a quarter of the
window. Apply the ceiling last.
"""

FAILS = "test_the_budget"


def summary_budget(content_tokens, context_length):
    ceiling = min(int(context_length * WINDOW_SHARE), MAX_SUMMARY_TOKENS)
    return max(min(int(content_tokens * SUMMARY_RATIO), ceiling), MIN_SUMMARY_TOKENS)
