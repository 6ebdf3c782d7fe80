"""One result is kept, and the others of its parallel group are cleared unread. The group begins behind the assistant that
made all the calls.
"""

FAILS = "test_what_the_model_has_not_read_is_not_pruned"


def prune_read(messages, keep_recent, **settings):
    return prune_old_tool_results(messages, max(keep_recent, 1), **settings)
