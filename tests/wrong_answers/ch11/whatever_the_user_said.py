"""All that the user said is counted. Older requests are summarised like the rest: only the last one, and the last reply,
stay.
"""

FAILS = "test_what_no_compression_can_touch"


def must_stay(messages):
    return estimate_tokens([message for message in messages if message.get("role") in (*SYSTEM_ROLES, "user")])
