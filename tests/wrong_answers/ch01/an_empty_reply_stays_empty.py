"""A reply with neither text nor calls is stored as it came, and the next request is refused: an assistant message
has to say something. Put EMPTY_REPLY in its place.
"""

FAILS = "test_assistant_message_is_sendable"


def assistant_message(reply):
    data = reply if isinstance(reply, dict) else reply.model_dump(exclude_none=True)
    message = {"role": "assistant", "content": clean_text(data.get("content") or "") or None}
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": clean_text(call["function"]["name"]), "arguments": clean_arguments(call["function"]["arguments"])}}
        for call in data.get("tool_calls") or ()
    ]
    if calls:
        message["tool_calls"] = calls
    return message
