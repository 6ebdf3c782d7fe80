def prune_old_tool_results(messages, keep_recent=3, min_chars=200, never_prune=()):
    names, by_place = {}, {}
    for place, message in enumerate(messages):
        names.update(tool_names(message))
        if message.get("role") == "tool":
            by_place[place] = names.get(str(message.get("tool_call_id")), "tool")
    kept, new = 0, []
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if place in by_place:
            kept += 1
            if kept > keep_recent and by_place[place] not in never_prune:
                message = shorter(message, by_place[place], min_chars)
        new.insert(0, message)
    return new


def shorter(message, tool, min_chars):
    content = message.get("content")
    if _is_placeholder(content):
        return message
    line = placeholder_for(tool, content)
    if picture_count(content) == 0 and (text_length(content) <= min_chars or text_length(content) <= len(line)):
        return message
    changed = dict(message)
    changed["content"] = line
    return changed
