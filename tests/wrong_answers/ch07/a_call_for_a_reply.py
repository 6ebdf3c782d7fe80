"""An assistant message that calls tools counts as the reply, but the user saw only texts without calls.
`is_visible_reply` knows the difference.
"""

FAILS = "test_the_anchors"


def find_anchors(messages):
    requests = [index for index, message in enumerate(messages) if is_request(message)]
    replies = [index for index, message in enumerate(messages) if message.get("role") == "assistant"]
    return sorted(requests[-1:] + replies[-1:])
