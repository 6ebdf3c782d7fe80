def must_stay(messages):
    places = set(find_anchors(messages))
    if messages and messages[0].get("role") in SYSTEM_ROLES:
        places.add(0)
    return sum(estimate_message_tokens(messages[place]) for place in places)
