"""Each schema is divided and rounded down on its own, so something of every one is lost. Add up the characters
first, and divide once.
"""

FAILS = "test_a_request_costs_its_messages_and_its_tool_schemas"


def estimate_tokens(messages, tools=()):
    schemas = sum(len(json.dumps(tool, ensure_ascii=False)) // CHARS_PER_TOKEN for tool in tools)
    return sum(map(estimate_message_tokens, messages)) + schemas
