"""Bridges of an earlier compression stay, also where they are needed no more, and pile up. Drop every old bridge
first, then build.
"""

FAILS = "test_a_bridge_stands_where_a_role_is_missing"


def bridge_roles(messages):
    bridged, previous = [], None
    for message in messages:
        role = message.get("role")
        if role == "assistant" and previous in (None, "assistant", *SYSTEM_ROLES):
            bridged.append({"role": "user", "content": BRIDGE_USER, GENERATED: "bridge"})
        elif role == "user" and previous == "user":
            bridged.append({"role": "assistant", "content": BRIDGE_ASSISTANT, GENERATED: "bridge"})
        bridged.append(message)
        previous = role
    if previous in SYSTEM_ROLES:
        bridged.append({"role": "user", "content": BRIDGE_USER, GENERATED: "bridge"})
    return bridged
