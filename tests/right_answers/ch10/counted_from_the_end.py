def prune_read(messages, keep_recent, **settings):
    unread, seen_any = 0, False
    for message in reversed(messages):
        if message.get("role") == "tool":
            unread, seen_any = unread + 1, True
        elif seen_any:
            break
    return prune_old_tool_results(messages, keep_recent if keep_recent > unread else unread, **settings)
