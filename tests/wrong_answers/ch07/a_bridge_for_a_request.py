"""Any user message counts as the request, also a bridge that the agent wrote itself. `is_request` knows the
difference.
"""

FAILS = "test_the_anchors"


def find_anchors(messages):
    requests = [index for index, message in enumerate(messages) if message.get("role") == "user"]
    replies = [index for index, message in enumerate(messages) if is_visible_reply(message)]
    return sorted(requests[-1:] + replies[-1:])
