def estimate_message_tokens(message):
    total = text_length(message.get("content"))
    calls = message.get("tool_calls")
    if calls:
        for call in calls:
            total = total + calls_length([call])
    tokens = int(total / CHARS_PER_TOKEN) + MESSAGE_TOKENS
    for _ in range(picture_count(message.get("content"))):
        tokens += PICTURE_TOKENS
    return tokens
