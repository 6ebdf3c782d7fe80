"""The message that breaks the budget is still taken into the tail. Look before you move the cut: stop when it
would not fit.
"""

FAILS = "test_the_tail_is_a_budget_of_tokens"


def find_boundaries(messages, protect_first=3, tail_token_budget=20_000):
    head_end = min(max(0, protect_first), len(messages))
    tail_start, tokens = len(messages), 0
    while tail_start > head_end and tokens < tail_token_budget:
        tail_start -= 1
        tokens += estimate_message_tokens(messages[tail_start])
    return head_end, min(tail_start, max(head_end, len(messages) - 1))
