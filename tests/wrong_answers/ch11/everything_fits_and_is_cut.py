"""Where everything fits the answer is the largest size, so that nothing is cut; yours is another number there. And
without any results it is 0.
"""

FAILS = "test_the_common_length"


def _common_cap(sizes, budget):
    for position, size in enumerate(sizes):
        share = budget // (len(sizes) - position)
        if size > share:
            return max(share, MIN_CLIPPED_TOKENS)
        budget -= size
    return MIN_CLIPPED_TOKENS
