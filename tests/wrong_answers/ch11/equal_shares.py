"""Each result gets the same share, and what the short ones do not need is wasted: for 100 and 5,000 tokens and a
budget of 1,000 the long one may have 900, not 500.
"""

FAILS = "test_the_common_length"


def _common_cap(sizes, budget):
    if not sizes or sum(sizes) <= budget:
        return max(sizes, default=0)
    return max(budget // len(sizes), MIN_CLIPPED_TOKENS)
