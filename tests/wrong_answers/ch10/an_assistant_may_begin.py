"""An assistant right behind the system prompt, or at the very beginning, is let through: a provider wants a user's
message first.
"""

FAILS = "test_a_bridge_stands_where_a_role_is_missing"


def bridge_roles(messages):
    bridged, previous = [], None
    for message in messages:
        if is_bridge(message):
            continue
        role = message.get("role")
        if role == "assistant" and previous == "assistant":
            bridged.append({"role": "user", "content": BRIDGE_USER, GENERATED: "bridge"})
        elif role == "user" and previous == "user":
            bridged.append({"role": "assistant", "content": BRIDGE_ASSISTANT, GENERATED: "bridge"})
        bridged.append(message)
        previous = role
    if previous in SYSTEM_ROLES:
        bridged.append({"role": "user", "content": BRIDGE_USER, GENERATED: "bridge"})
    return bridged
