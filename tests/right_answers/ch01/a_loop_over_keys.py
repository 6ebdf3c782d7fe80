from reference.messages import Message


def to_wire(messages):
    return list(map(only_known, messages))


def only_known(message):
    role = message.get("role")
    allowed = WIRE_KEYS[role] if role in WIRE_KEYS else WIRE_KEYS["user"]
    copied = {}
    for key in message:
        if key not in allowed:
            continue
        if message[key] is None and key != "content":
            continue
        copied[key] = message[key]
    if copied == message:
        return message
    return copied
