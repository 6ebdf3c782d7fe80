"""`if` moves the cut back by one result only; in a group with two it still falls inside. Use `while`."""

FAILS = "test_the_tails_cut_moves_backward"


def _align_boundary_backward(messages, index):
    if 0 < index < len(messages) and messages[index].get("role") == "tool":
        index -= 1
    return index
