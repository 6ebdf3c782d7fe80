"""The length of the message's JSON counts keys that are never sent, and a picture's bytes. Count content, calls
and pictures.
"""

FAILS = "test_a_message_costs_what_is_sent_of_it"


def estimate_message_tokens(message):
    return MESSAGE_TOKENS + len(json.dumps(message)) // CHARS_PER_TOKEN
