"""`content: None` beside tool calls has to stay: a message without the key `content` is refused. Every other None
goes.
"""

FAILS = "test_to_wire_sends_what_a_provider_knows"


def to_wire(messages):
    sent = []
    for message in messages:
        known = WIRE_KEYS.get(message.get("role") or "", WIRE_KEYS["user"])
        kept = {key: value for key, value in message.items() if key in known and value is not None}
        sent.append(message if len(kept) == len(message) else kept)
    return sent
