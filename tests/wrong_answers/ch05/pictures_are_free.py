"""A picture has no characters, but a provider charges for it: add PICTURE_TOKENS for each that `picture_count`
finds.
"""

FAILS = "test_a_message_costs_what_is_sent_of_it"


def estimate_message_tokens(message):
    characters = text_length(message.get("content")) + calls_length(message.get("tool_calls") or [])
    return MESSAGE_TOKENS + characters // CHARS_PER_TOKEN
