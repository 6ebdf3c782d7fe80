from itertools import accumulate


def find_boundaries(messages, protect_first=3, tail_token_budget=20_000):
    size = len(messages)
    head = sorted((0, protect_first, size))[1]
    sums = accumulate(estimate_message_tokens(message) for message in reversed(messages[head:]))
    fitting = sum(1 for number, total in enumerate(sums) if total <= tail_token_budget or number == 0)
    return head, size - fitting
