"""Two messages of one role are glued together, and what the user said is no longer what the user said. Put a
bridge between them: kept messages stay the same objects.
"""

FAILS = "test_a_bridge_stands_where_a_role_is_missing"


def bridge_roles(messages):
    bridged = []
    for message in messages:
        if is_bridge(message):
            continue
        if bridged and bridged[-1]["role"] == message["role"] and message["role"] in ("user", "assistant"):
            bridged[-1] = bridged[-1] | {"content": f"{bridged[-1]['content']}\n\n{message['content']}"}
        elif message["role"] == "assistant" and (not bridged or bridged[-1]["role"] in SYSTEM_ROLES):
            bridged += [{"role": "user", "content": BRIDGE_USER, GENERATED: "bridge"}, message]
        else:
            bridged.append(message)
    if bridged and bridged[-1]["role"] in SYSTEM_ROLES:
        bridged.append({"role": "user", "content": BRIDGE_USER, GENERATED: "bridge"})
    return bridged
