"""The end of the list is a valid cut, but `messages[index]` does not exist there. Compare with len(messages)
first.
"""

FAILS = "test_the_heads_cut_moves_forward"


def _align_to_assistant_boundary(messages, index):
    while messages[index].get("role") == "tool":
        index += 1
    return index
