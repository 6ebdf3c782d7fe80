"""The cut moves backward, and the head loses the call whose results it was to keep. The head's cut moves forward,
past the results.
"""

FAILS = "test_the_heads_cut_moves_forward"


def _align_to_assistant_boundary(messages, index):
    while 0 < index < len(messages) and messages[index].get("role") == "tool":
        index -= 1
    return index
