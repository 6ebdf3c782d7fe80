"""0.07 × 100 is 7.000000000000001 in binary, so 7 does not reach it. `threshold_tokens` rounds that away."""

FAILS = "test_the_trigger"


def should_compress(prompt_tokens, context_length, threshold=0.50):
    return prompt_tokens >= context_length * threshold
