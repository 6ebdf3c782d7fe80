"""`"tool_calls" in message` is also true for an empty list and for None, which are no calls. Ask for the value:
`message.get("tool_calls")`.
"""

FAILS = "test_groups_are_an_assistant_with_its_results"


def tool_groups(messages):
    return [
        (start, _align_to_assistant_boundary(messages, start + 1))
        for start, message in enumerate(messages)
        if message.get("role") == "assistant" and "tool_calls" in message
    ]
