"""`never_prune` is not looked at, and what the user answered is cleared: no tool can read that again. Leave the results
of the tools it names.
"""

FAILS = "test_results_of_tools_in_never_prune_stay"


def prune_old_tool_results(messages, keep_recent=3, min_chars=200, never_prune=()):
    results = [index for index, message in enumerate(messages) if message.get("role") == "tool"]
    old = set(results[: max(0, len(results) - keep_recent)])
    names, pruned = {}, []
    for index, message in enumerate(messages):
        names.update(tool_names(message))
        tool, content = names.get(str(message.get("tool_call_id")), "tool"), message.get("content")
        if index in old and not _is_placeholder(content):
            placeholder = placeholder_for(tool, content)
            if picture_count(content) or text_length(content) > max(min_chars, len(placeholder)):
                message = message | {"content": placeholder}
        pruned.append(message)
    return pruned
