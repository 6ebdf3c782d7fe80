"""The tail is counted in messages, but twenty short messages are nothing and two long ones fill the window. Add up
tokens with `estimate_message_tokens`.
"""

FAILS = "test_the_tail_is_a_budget_of_tokens"


def find_boundaries(messages, protect_first=3, tail_token_budget=20_000):
    head_end = min(max(0, protect_first), len(messages))
    return head_end, max(head_end, len(messages) - max(1, tail_token_budget // 100))
