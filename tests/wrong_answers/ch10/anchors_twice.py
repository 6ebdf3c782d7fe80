"""All anchors are named, also those in the tail, and these would stand in the list twice. Only what lies in the middle is
taken out of it.
"""

FAILS = "test_where_the_list_is_cut"


def find_cut(messages, protect_first=3, tail_token_budget=20_000):
    head_end, tail_start = find_boundaries(messages, head_end, tail_token_budget)
    tail_start = min(_align_boundary_backward(messages, tail_start), _unseen_group(messages))
    tail_start = max([tail_start, head_end, *(index + 1 for index in summaries)])
    inside = tuple(index for index in anchors)
    return Cut(head_end, tail_start, inside, frozenset(generated))
