"""The second number is the position of the last result, but [start, stop) ends behind it: messages[start:stop] has
to be the whole group.
"""

FAILS = "test_groups_are_an_assistant_with_its_results"


def tool_groups(messages):
    return [
        (start, _align_to_assistant_boundary(messages, start + 1) - 1)
        for start, message in enumerate(messages)
        if message.get("role") == "assistant" and message.get("tool_calls")
    ]
