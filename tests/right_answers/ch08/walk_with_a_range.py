def _align_boundary_backward(messages, index):
    if index >= len(messages):
        return index
    for place in range(index, 0, -1):
        if messages[place].get("role") != "tool":
            return place
    return 0
