"""The arguments are stored as the model wrote them. When they are no JSON the history is refused with every
request from then on: pass them through `clean_arguments`.
"""

FAILS = "test_arguments_become_a_json_object"


def assistant_message(reply):
    data = reply if isinstance(reply, dict) else reply.model_dump(exclude_none=True)
    message = {"role": "assistant", "content": clean_text(data.get("content") or "") or None}
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": clean_text(call["function"]["name"]), "arguments": call["function"]["arguments"]}}
        for call in data.get("tool_calls") or ()
    ]
    if calls:
        message["tool_calls"] = calls
    elif not has_text(message):
        message["content"] = EMPTY_REPLY
    return message
