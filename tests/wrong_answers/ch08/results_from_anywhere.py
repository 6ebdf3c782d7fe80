"""Everything up to the next assistant message is taken into the group, also a user's message. A group is the
assistant and the results right behind it.
"""

FAILS = "test_groups_are_an_assistant_with_its_results"


def tool_groups(messages):
    groups = []
    for start, message in enumerate(messages):
        if message.get("role") == "assistant" and message.get("tool_calls"):
            later = [i for i in range(start + 1, len(messages)) if messages[i].get("role") == "assistant"]
            groups.append((start, later[0] if later else len(messages)))
    return groups
