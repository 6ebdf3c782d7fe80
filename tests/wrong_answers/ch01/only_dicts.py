"""The client's reply is an object, not a dict: `reply["content"]` and `reply.get(...)` fail on it. Turn it into a
dict first, with `reply.model_dump(exclude_none=True)`.
"""

FAILS = "test_a_reply_may_be_an_object_of_the_client"


def assistant_message(reply):
    message = {"role": "assistant", "content": clean_text(reply.get("content") or "") or None}
    calls = [
        {"id": call["id"], "type": "function", "function": {"name": clean_text(call["function"]["name"]), "arguments": clean_arguments(call["function"]["arguments"])}}
        for call in reply.get("tool_calls") or ()
    ]
    if calls:
        message["tool_calls"] = calls
    elif not has_text(message):
        message["content"] = EMPTY_REPLY
    return message
