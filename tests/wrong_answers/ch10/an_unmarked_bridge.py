"""The bridge has no key GENERATED. Without the mark it may be taken for something that the user or the agent said."""

FAILS = "test_a_bridge_stands_where_a_role_is_missing"


def bridge_roles(messages):
    bridged, previous = [], None
    for message in messages:
        if is_bridge(message):
            continue
        role = message.get("role")
        if role == "assistant" and previous in (None, "assistant", *SYSTEM_ROLES):
            bridged.append({"role": "user", "content": BRIDGE_USER})
        elif role == "user" and previous == "user":
            bridged.append({"role": "assistant", "content": BRIDGE_ASSISTANT})
        bridged.append(message)
        previous = role
    if previous in SYSTEM_ROLES:
        bridged.append({"role": "user", "content": BRIDGE_USER})
    return bridged
