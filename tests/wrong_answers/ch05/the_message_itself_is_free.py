"""The message itself costs MESSAGE_TOKENS, for its role and the separators, even when it is empty. Add them."""

FAILS = "test_a_message_costs_what_is_sent_of_it"


def estimate_message_tokens(message):
    content = message.get("content")
    characters = text_length(content) + calls_length(message.get("tool_calls") or [])
    return characters // CHARS_PER_TOKEN + PICTURE_TOKENS * picture_count(content)
