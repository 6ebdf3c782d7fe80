"""Only the content is counted, but the arguments of a tool call can be a whole file. Count every entry of
`tool_calls` with `calls_length`.
"""

FAILS = "test_a_message_costs_what_is_sent_of_it"


def estimate_message_tokens(message):
    content = message.get("content")
    return MESSAGE_TOKENS + text_length(content) // CHARS_PER_TOKEN + PICTURE_TOKENS * picture_count(content)
