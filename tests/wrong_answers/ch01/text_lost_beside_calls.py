"""The text beside the calls is lost. A model may say what it is about to do and call a tool in one message: keep
both.
"""

FAILS = "test_assistant_message_is_sendable"


def assistant_message(reply):
    data = reply if isinstance(reply, dict) else reply.model_dump(exclude_none=True)
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": clean_text(call["function"]["name"]), "arguments": clean_arguments(call["function"]["arguments"])}}
        for call in data.get("tool_calls") or ()
    ]
    if calls:
        return {"role": "assistant", "content": None, "tool_calls": calls}
    message = {"role": "assistant", "content": clean_text(data.get("content") or "")}
    return message if has_text(message) else message | {"content": EMPTY_REPLY}
