"""The first message is looked at only as the one before the second, so a list that begins with an assistant or a
result passes. It too has an order to keep: its `before` is None.
"""

FAILS = "test_what_a_strict_provider_refuses"


def validate_messages(messages):
    problems = [f"messages[{i}]: {problem}" for i, message in enumerate(messages) for problem in form_problems(message)]
    if not any(message.get("role") not in SYSTEM_ROLES for message in messages):
        problems.append("there is no user message")
    for index in range(1, len(messages)):
        problems += [f"messages[{index}]: {problem}" for problem in _order_problems(messages[index - 1], messages[index], index)]
    for start, stop in tool_groups(messages):
        problems += [f"messages[{start}]: {problem}" for problem in _group_problems(messages[start:stop])]
    return problems
