"""The message before the cut is looked at instead of the one behind it, so a cut behind a whole group moves too. A
cut falls inside a group when the message behind it, `messages[index]`, is a result.
"""

FAILS = "test_the_tails_cut_moves_backward"


def _align_boundary_backward(messages, index):
    while index > 0 and messages[index - 1].get("role") == "tool":
        index -= 1
    if 0 < index < len(messages) and messages[index].get("role") == "tool":
        index -= 1
    return index
