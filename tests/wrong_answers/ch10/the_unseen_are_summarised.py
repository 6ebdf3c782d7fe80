"""Where the user spoke last the results before it fall into the middle, and the model never sees them. The tail begins at
`_unseen_group` at the latest.
"""

FAILS = "test_where_the_list_is_cut"


def find_cut(messages, protect_first=3, tail_token_budget=20_000):
    head_end, tail_start = find_boundaries(messages, head_end, tail_token_budget)
    tail_start = _align_boundary_backward(messages, tail_start)
    tail_start = max([tail_start, head_end, *(index + 1 for index in summaries)])
    inside = tuple(index for index in anchors if head_end <= index < tail_start)
    return Cut(head_end, tail_start, inside, frozenset(generated))
