"""`protect_first` can be more than there are messages, or below zero: the head's end then lies outside the list.
Bring it into the range from 0 to len(messages).
"""

FAILS = "test_the_tail_is_a_budget_of_tokens"


def find_boundaries(messages, protect_first=3, tail_token_budget=20_000):
    head_end = protect_first
    tail_start, tokens = len(messages), 0
    while tail_start > max(0, head_end):
        tokens += estimate_message_tokens(messages[tail_start - 1])
        if tokens > tail_token_budget and tail_start < len(messages):
            break
        tail_start -= 1
    return head_end, tail_start
