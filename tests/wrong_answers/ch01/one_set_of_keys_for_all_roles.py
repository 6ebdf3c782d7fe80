"""Each role has keys of its own: a user's message with `tool_call_id` is refused. Look the keys up in WIRE_KEYS by
the message's role.
"""

FAILS = "test_to_wire_sends_what_a_provider_knows"


def to_wire(messages):
    known = frozenset().union(*WIRE_KEYS.values())
    sent = []
    for message in messages:
        kept = {key: value for key, value in message.items() if key in known and (value is not None or key == "content")}
        sent.append(message if len(kept) == len(message) else kept)
    return sent
