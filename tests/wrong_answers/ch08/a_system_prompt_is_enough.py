"""A list with nothing but a system message passes, but a request needs a message that is none. No helper looks for
that: add it.
"""

FAILS = "test_what_a_strict_provider_refuses"


def validate_messages(messages):
    problems = [f"messages[{i}]: {problem}" for i, message in enumerate(messages) for problem in form_problems(message)]
    for index, (before, message) in enumerate(zip([None, *messages], messages, strict=False)):
        problems += [f"messages[{index}]: {problem}" for problem in _order_problems(before, message, index)]
    for start, stop in tool_groups(messages):
        problems += [f"messages[{start}]: {problem}" for problem in _group_problems(messages[start:stop])]
    return problems
