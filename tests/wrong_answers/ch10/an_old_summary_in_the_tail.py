"""The tail reaches across the old summary, and then there are two. It begins behind the last summary at the earliest, at
`index + 1`.
"""

FAILS = "test_where_the_list_is_cut"


def find_cut(messages, protect_first=3, tail_token_budget=20_000):
    head_end, tail_start = find_boundaries(messages, head_end, tail_token_budget)
    tail_start = min(_align_boundary_backward(messages, tail_start), _unseen_group(messages))
    tail_start = max(tail_start, head_end)
    inside = tuple(index for index in anchors if head_end <= index < tail_start)
    return Cut(head_end, tail_start, inside, frozenset(generated))
