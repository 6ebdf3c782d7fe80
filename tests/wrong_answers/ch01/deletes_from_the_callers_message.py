"""`del` and `pop` write into the caller's own messages, so the history loses its internal keys for good. Build a
new dict for each message.
"""

FAILS = "test_to_wire_sends_what_a_provider_knows"


def to_wire(messages):
    messages = list(messages)
    for message in messages:
        known = WIRE_KEYS.get(message.get("role") or "", WIRE_KEYS["user"])
        for key in list(message):
            if key not in known or (message[key] is None and key != "content"):
                del message[key]
    return messages
