def validate_messages(messages):
    found, stops = [], dict(tool_groups(messages))
    users = 0
    for place in range(len(messages)):
        message = messages[place]
        users += message.get("role") not in SYSTEM_ROLES
        told = list(form_problems(message))
        told.extend(_order_problems(messages[place - 1] if place else None, message, place))
        if place in stops:
            told.extend(_group_problems(messages[place : stops[place]]))
        found.extend(f"messages[{place}]: {problem}" for problem in told)
    if not users:
        found.insert(0, "there is no user message")
    return found
