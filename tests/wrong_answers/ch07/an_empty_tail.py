"""A last message that is bigger than the budget leaves no tail at all, and the model loses what it is working on.
The last message stays, however big it is.
"""

FAILS = "test_the_tail_is_a_budget_of_tokens"


def find_boundaries(messages, protect_first=3, tail_token_budget=20_000):
    head_end = min(max(0, protect_first), len(messages))
    tail_start, tokens = len(messages), 0
    while tail_start > head_end:
        tokens += estimate_message_tokens(messages[tail_start - 1])
        if tokens > tail_token_budget:
            break
        tail_start -= 1
    return head_end, tail_start
