def _common_cap(sizes, budget):
    if not sizes:
        return 0
    share = budget // len(sizes)
    smallest, rest = sizes[0], sizes[1:]
    if smallest > share:
        return share if share > MIN_CLIPPED_TOKENS else MIN_CLIPPED_TOKENS
    return _common_cap(rest, budget - smallest) if rest else smallest
