"""With `>` a request that just reaches the threshold is let through. Reaching it is enough: `>=`."""

FAILS = "test_the_trigger"


def should_compress(prompt_tokens, context_length, threshold=0.50):
    return prompt_tokens > threshold_tokens(context_length, threshold)
