"""Calls without a result, and results that answer nothing, are not found. Look at every group with
`_group_problems`.
"""

FAILS = "test_what_a_strict_provider_refuses"


def validate_messages(messages):
    problems = [f"messages[{i}]: {problem}" for i, message in enumerate(messages) for problem in form_problems(message)]
    if not any(message.get("role") not in SYSTEM_ROLES for message in messages):
        problems.append("there is no user message")
    for index, (before, message) in enumerate(zip([None, *messages], messages, strict=False)):
        problems += [f"messages[{index}]: {problem}" for problem in _order_problems(before, message, index)]
    return problems
