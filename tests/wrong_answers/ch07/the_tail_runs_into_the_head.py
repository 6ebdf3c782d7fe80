"""A tail that fits the whole list runs into the head, and the same messages stand in both. Stop at head_end: the
cuts never cross.
"""

FAILS = "test_the_tail_is_a_budget_of_tokens"


def find_boundaries(messages, protect_first=3, tail_token_budget=20_000):
    head_end = min(max(0, protect_first), len(messages))
    tail_start, tokens = len(messages), 0
    while tail_start > 0:
        tokens += estimate_message_tokens(messages[tail_start - 1])
        if tokens > tail_token_budget and tail_start < len(messages):
            break
        tail_start -= 1
    return head_end, tail_start
