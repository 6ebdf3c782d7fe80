def tool_groups(messages):
    groups, start = [], None
    for index, message in enumerate(messages):
        if start is not None and message.get("role") != "tool":
            groups.append((start, index))
            start = None
        if message.get("role") == "assistant" and message.get("tool_calls"):
            start = index
    if start is not None:
        groups.append((start, len(messages)))
    return groups
