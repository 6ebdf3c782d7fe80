"""The cut moves forward, and the results that the model asked for last fall into the middle before it has read
them. The tail's cut moves backward.
"""

FAILS = "test_the_tails_cut_moves_backward"


def _align_boundary_backward(messages, index):
    while index < len(messages) and messages[index].get("role") == "tool":
        index += 1
    return index
