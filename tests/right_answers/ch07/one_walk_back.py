def find_anchors(messages):
    request = reply = None
    for index in reversed(range(len(messages))):
        if request is None and is_request(messages[index]):
            request = index
        elif reply is None and is_visible_reply(messages[index]):
            reply = index
    found = [index for index in (request, reply) if index is not None]
    found.sort()
    return found
