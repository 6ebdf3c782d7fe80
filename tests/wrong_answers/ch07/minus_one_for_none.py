"""What was not found is returned as -1 or None, and -1 is the last message. Return only the positions that there
are.
"""

FAILS = "test_the_anchors"


def find_anchors(messages):
    requests = [index for index, message in enumerate(messages) if is_request(message)]
    replies = [index for index, message in enumerate(messages) if is_visible_reply(message)]
    return sorted([requests[-1] if requests else -1, replies[-1] if replies else -1])
