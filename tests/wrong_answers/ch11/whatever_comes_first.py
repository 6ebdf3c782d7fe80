"""The first message is counted whatever it is: where there is no system prompt the request is counted twice. Look at its
role.
"""

FAILS = "test_what_no_compression_can_touch"


def must_stay(messages):
    return estimate_tokens([*messages[:1], *(messages[index] for index in find_anchors(messages))])
