"""With a small budget the results are clipped to nothing, and not even the mark has room. At least
MIN_CLIPPED_TOKENS.
"""

FAILS = "test_the_common_length"


def _common_cap(sizes, budget):
    for position, size in enumerate(sizes):
        share = budget // (len(sizes) - position)
        if size > share:
            return share
        budget -= size
    return max(sizes, default=0)
