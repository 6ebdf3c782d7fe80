"""The first request is found instead of the last, and the agent goes back to work that is long done. Search from
the end.
"""

FAILS = "test_the_anchors"


def find_anchors(messages):
    requests = [index for index, message in enumerate(messages) if is_request(message)]
    replies = [index for index, message in enumerate(messages) if is_visible_reply(message)]
    return sorted(requests[:1] + replies[:1])
