"""`settings` are taken and not handed on: then `never_prune` and `min_chars` do nothing. Write `**settings` in the call too.
"""

FAILS = "test_the_settings_of_pruning_are_handed_on"


def prune_read(messages, keep_recent, **settings):
    stop = len(messages)
    while stop and messages[stop - 1].get("role") != "tool":
        stop -= 1
    start = _align_boundary_backward(messages, stop - 1) + 1 if stop else 0
    return prune_old_tool_results(messages, max(keep_recent, stop - start))
