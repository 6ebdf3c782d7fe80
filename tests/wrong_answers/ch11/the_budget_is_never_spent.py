"""What the short results take is not taken off the budget, so all together they are over it. Make the budget
smaller by each size that fits.
"""

FAILS = "test_the_common_length"


def _common_cap(sizes, budget):
    for position, size in enumerate(sizes):
        share = budget // (len(sizes) - position)
        if size > share:
            return max(share, MIN_CLIPPED_TOKENS)
    return max(sizes, default=0)
