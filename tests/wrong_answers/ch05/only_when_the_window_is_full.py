"""It waits until the window is full, and then there is no room for the summary's own request. Compare with the
threshold, a share of the window.
"""

FAILS = "test_the_trigger"


def should_compress(prompt_tokens, context_length, threshold=0.50):
    return prompt_tokens >= context_length
