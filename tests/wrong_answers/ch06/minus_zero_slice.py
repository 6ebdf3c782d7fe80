"""`results[:-keep_recent]` keeps everything when keep_recent is 0, because -0 is 0: count from the front instead."""

FAILS = "test_clears_all_but_the_newest"


def prune_old_tool_results(messages, keep_recent=3, min_chars=200, never_prune=()):
    results = [index for index, message in enumerate(messages) if message.get("role") == "tool"]
    return _cleared(messages, set(results[:-keep_recent]), min_chars, never_prune)


def _cleared(messages, old, min_chars, never_prune):
    names, pruned = {}, []
    for index, message in enumerate(messages):
        names.update(tool_names(message))
        tool, content = names.get(str(message.get("tool_call_id")), "tool"), message.get("content")
        if index in old and tool not in never_prune and not _is_placeholder(content):
            placeholder = placeholder_for(tool, content)
            if picture_count(content) or text_length(content) > max(min_chars, len(placeholder)):
                message = message | {"content": placeholder}
        pruned.append(message)
    return pruned
