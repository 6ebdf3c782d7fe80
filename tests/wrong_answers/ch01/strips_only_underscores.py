"""Only keys that begin with an underscore are stripped, but `reasoning` is as unknown to a provider. Keep what
WIRE_KEYS names instead of guessing what to drop.
"""

FAILS = "test_to_wire_sends_what_a_provider_knows"


def to_wire(messages):
    sent = []
    for message in messages:
        kept = {key: value for key, value in message.items() if not key.startswith("_") and (value is not None or key == "content")}
        sent.append(message if len(kept) == len(message) else kept)
    return sent
