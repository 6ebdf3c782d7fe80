"""The last group is kept on top of the newest `keep_recent`, and more stays than was asked for. It counts among them: the
larger of the two numbers.
"""

FAILS = "test_what_the_model_has_not_read_is_not_pruned"


def prune_read(messages, keep_recent, **settings):
    stop = len(messages)
    while stop and messages[stop - 1].get("role") != "tool":
        stop -= 1
    start = _align_boundary_backward(messages, stop - 1) + 1 if stop else 0
    return prune_old_tool_results(messages, keep_recent + stop - start, **settings)
