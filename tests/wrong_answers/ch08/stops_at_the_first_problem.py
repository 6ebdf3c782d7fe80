"""Only the first problem is named, and whoever repairs it meets the next one at the next request. Collect all of
them.
"""

FAILS = "test_every_problem_is_named_with_its_position"


def validate_messages(messages):
    if not any(message.get("role") not in SYSTEM_ROLES for message in messages):
        return ["there is no user message"]
    for index, (before, message) in enumerate(zip([None, *messages], messages, strict=False)):
        for problem in [*form_problems(message), *_order_problems(before, message, index)]:
            return [f"messages[{index}]: {problem}"]
    for start, stop in tool_groups(messages):
        for problem in _group_problems(messages[start:stop]):
            return [f"messages[{start}]: {problem}"]
    return []
