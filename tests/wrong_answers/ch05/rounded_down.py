"""`int(...)` rounds the threshold down, so it fires too early: half of 7 is 3.5, and 3 does not reach it.
`threshold_tokens` rounds up.
"""

FAILS = "test_the_trigger"


def should_compress(prompt_tokens, context_length, threshold=0.50):
    return prompt_tokens >= int(round(context_length * threshold, 6))
