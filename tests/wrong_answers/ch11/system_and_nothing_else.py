"""A developer's message is the system prompt under another name, and it stays too: SYSTEM_ROLES has both.
"""

FAILS = "test_what_no_compression_can_touch"


def must_stay(messages):
    system = [message for message in messages[:1] if message.get("role") == "system"]
    return estimate_tokens([*system, *(messages[index] for index in find_anchors(messages))])
