"""The budget's cut falls between a call and its results, and the tail begins with results that nobody asked for: a
provider refuses that. Move it back with `_align_boundary_backward`.
"""

FAILS = "test_where_the_list_is_cut"


def find_cut(messages, protect_first=3, tail_token_budget=20_000):
    head_end, tail_start = find_boundaries(messages, head_end, tail_token_budget)
    tail_start = min(tail_start, _unseen_group(messages))
    tail_start = max([tail_start, head_end, *(index + 1 for index in summaries)])
    inside = tuple(index for index in anchors if head_end <= index < tail_start)
    return Cut(head_end, tail_start, inside, frozenset(generated))
