"""The request always comes first in the result, also where the reply stands before it. The anchors keep their
order: sort the positions.
"""

FAILS = "test_the_anchors"


def find_anchors(messages):
    requests = [index for index, message in enumerate(messages) if is_request(message)]
    replies = [index for index, message in enumerate(messages) if is_visible_reply(message)]
    return requests[-1:] + replies[-1:]
