"""A key whose value is None is still sent, as null, and a provider refuses `tool_calls: null`. Leave such keys
out, all but `content`.
"""

FAILS = "test_to_wire_sends_what_a_provider_knows"


def to_wire(messages):
    sent = []
    for message in messages:
        known = WIRE_KEYS.get(message.get("role") or "", WIRE_KEYS["user"])
        kept = {key: value for key, value in message.items() if key in known}
        sent.append(message if len(kept) == len(message) else kept)
    return sent
