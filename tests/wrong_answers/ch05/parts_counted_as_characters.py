"""`len(content)` of a list is the number of its parts, and content can be None or missing. `text_length` knows all
three forms.
"""

FAILS = "test_a_message_costs_what_is_sent_of_it"


def estimate_message_tokens(message):
    characters = len(message.get("content") or "") + calls_length(message.get("tool_calls") or [])
    return MESSAGE_TOKENS + characters // CHARS_PER_TOKEN
