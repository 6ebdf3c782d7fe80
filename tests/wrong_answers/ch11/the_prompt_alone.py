"""The anchors are left out: the last request may be a book, and it stays word for word.
"""

FAILS = "test_what_no_compression_can_touch"


def must_stay(messages):
    return estimate_tokens([message for message in messages[:1] if message.get("role") in SYSTEM_ROLES])
