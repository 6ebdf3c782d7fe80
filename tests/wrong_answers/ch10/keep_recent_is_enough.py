"""Only `keep_recent` counts, and with a big parallel group, or with 0, results are cleared before the model has read them:
it makes the calls again.
"""

FAILS = "test_what_the_model_has_not_read_is_not_pruned"


def prune_read(messages, keep_recent, **settings):
    return prune_old_tool_results(messages, keep_recent, **settings)
