def estimate_tokens(messages, tools=()):
    total = 0
    for message in messages:
        total += estimate_message_tokens(message)
    text = "".join(json.dumps(tool, ensure_ascii=False) for tool in tools)
    return total + len(text) // CHARS_PER_TOKEN
