"""The cut moves below 0 when a list begins with a result, and -1 is the last message. Stop at 0."""

FAILS = "test_the_tails_cut_moves_backward"


def _align_boundary_backward(messages, index):
    while index < len(messages) and messages[index].get("role") == "tool":
        index -= 1
    return index
