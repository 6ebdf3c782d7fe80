def find_cut(messages, protect_first=3, tail_token_budget=20_000):
    start = find_boundaries(messages, protect_first=head_end, tail_token_budget=tail_token_budget)[1]
    start = _align_boundary_backward(messages, start)
    unseen = _unseen_group(messages)
    if unseen < start:
        start = unseen
    if summaries and start <= summaries[-1]:
        start = summaries[-1] + 1
    if start < head_end:
        start = head_end
    middle = range(head_end, start)
    return Cut(head_end, start, anchors=tuple(a for a in anchors if a in middle), generated=frozenset(generated))
