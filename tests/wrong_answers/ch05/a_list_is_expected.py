"""`len(messages)` and an index need a list, but any iterable may come in. Loop over it, once."""

FAILS = "test_messages_and_tools_may_come_from_a_generator"


def estimate_tokens(messages, tools=()):
    total = 0
    for position in range(len(messages)):
        total += estimate_message_tokens(messages[position])
    return total + sum(len(json.dumps(tool, ensure_ascii=False)) for tool in tools) // CHARS_PER_TOKEN
