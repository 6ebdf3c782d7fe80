"""Two users in a row, or an assistant that comes first, are not found. Look at every message with the one before
it, with `_order_problems`.
"""

FAILS = "test_what_a_strict_provider_refuses"


def validate_messages(messages):
    problems = [f"messages[{i}]: {problem}" for i, message in enumerate(messages) for problem in form_problems(message)]
    if not any(message.get("role") not in SYSTEM_ROLES for message in messages):
        problems.append("there is no user message")
    for start, stop in tool_groups(messages):
        problems += [f"messages[{start}]: {problem}" for problem in _group_problems(messages[start:stop])]
    return problems
