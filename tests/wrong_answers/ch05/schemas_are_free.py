"""The tool schemas are not counted, but they are sent with every request: twenty tools are thousands of tokens."""

FAILS = "test_a_request_costs_its_messages_and_its_tool_schemas"


def estimate_tokens(messages, tools=()):
    return sum(map(estimate_message_tokens, messages))
