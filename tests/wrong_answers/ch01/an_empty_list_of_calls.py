"""`tool_calls: []` is refused by a provider. Where there are no calls, leave the key out."""

FAILS = "test_assistant_message_is_sendable"


def assistant_message(reply):
    data = reply if isinstance(reply, dict) else reply.model_dump(exclude_none=True)
    message = {"role": "assistant", "content": clean_text(data.get("content") or "") or None}
    message["tool_calls"] = [
        {"id": call["id"], "type": "function", "function": {"name": clean_text(call["function"]["name"]), "arguments": clean_arguments(call["function"]["arguments"])}}
        for call in data.get("tool_calls") or ()
    ]
    if not message["tool_calls"] and not has_text(message):
        message["content"] = EMPTY_REPLY
    return message
