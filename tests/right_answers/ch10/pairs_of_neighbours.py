def bridge_roles(messages):
    kept = [message for message in messages if not is_bridge(message)]
    roles = [message.get("role") for message in kept]
    result = []
    for before, role, message in zip([None] + roles, roles, kept):
        first = before is None or before in SYSTEM_ROLES
        if role == "assistant" and (first or before == "assistant"):
            result.append(line("user", BRIDGE_USER))
        if role == before == "user":
            result.append(line("assistant", BRIDGE_ASSISTANT))
        result.append(message)
    if roles and roles[-1] in SYSTEM_ROLES:
        result.append(line("user", BRIDGE_USER))
    return result


def line(role, content):
    return {"role": role, "content": content, "_generated": "bridge"}
