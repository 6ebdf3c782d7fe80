def assistant_message(reply):
    def field(thing, name):
        return thing.get(name) if isinstance(thing, dict) else getattr(thing, name, None)

    text = clean_text(field(reply, "content") or "")
    calls = []
    for call in field(reply, "tool_calls") or []:
        function = field(call, "function")
        cleaned = {"name": clean_text(field(function, "name")), "arguments": clean_arguments(field(function, "arguments"))}
        calls.append({"id": field(call, "id"), "type": "function", "function": cleaned})
    if calls:
        return {"role": "assistant", "content": text or None, "tool_calls": calls}
    if not text.strip():
        text = EMPTY_REPLY
    return {"role": "assistant", "content": text}
