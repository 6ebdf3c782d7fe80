"""The end is counted from the number of calls, but in a real history a result can be missing. Look where the
results end.
"""

FAILS = "test_groups_are_an_assistant_with_its_results"


def tool_groups(messages):
    return [
        (start, start + 1 + len(message["tool_calls"]))
        for start, message in enumerate(messages)
        if message.get("role") == "assistant" and message.get("tool_calls")
    ]
