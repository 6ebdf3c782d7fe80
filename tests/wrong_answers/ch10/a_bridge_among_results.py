"""A bridge is put between two results, and the second is torn from its call. Results may stand in a row: only user
and assistant may not repeat.
"""

FAILS = "test_results_in_a_row_and_the_reply_behind_them_need_no_bridge"


def bridge_roles(messages):
    bridged, previous = [], None
    for message in messages:
        if is_bridge(message):
            continue
        role = message.get("role")
        if role == previous or (role == "assistant" and previous in (None, *SYSTEM_ROLES)):
            other = "assistant" if role == "user" else "user"
            text = BRIDGE_ASSISTANT if role == "user" else BRIDGE_USER
            bridged.append({"role": other, "content": text, GENERATED: "bridge"})
        bridged.append(message)
        previous = role
    if previous in SYSTEM_ROLES:
        bridged.append({"role": "user", "content": BRIDGE_USER, GENERATED: "bridge"})
    return bridged
