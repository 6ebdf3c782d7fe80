"""The tool's name is looked up in a dictionary of the whole history. Ids repeat, so the last call with that id
wins: collect the names while you walk, and an id means the nearest call before.
"""

FAILS = "test_the_name_is_that_of_the_nearest_call_before_since_ids_repeat"


def prune_old_tool_results(messages, keep_recent=3, min_chars=200, never_prune=()):
    results = [index for index, message in enumerate(messages) if message.get("role") == "tool"]
    old = set(results[: max(0, len(results) - keep_recent)])
    names, pruned = {}, []
    for message in messages:
        names.update(tool_names(message))
    for index, message in enumerate(messages):
        tool, content = names.get(str(message.get("tool_call_id")), "tool"), message.get("content")
        if index in old and tool not in never_prune and not _is_placeholder(content):
            placeholder = placeholder_for(tool, content)
            if picture_count(content) or text_length(content) > max(min_chars, len(placeholder)):
                message = message | {"content": placeholder}
        pruned.append(message)
    return pruned
