def _align_to_assistant_boundary(messages, index):
    for place in range(index, len(messages)):
        if messages[place].get("role") != "tool":
            return place
    return max(index, len(messages))
