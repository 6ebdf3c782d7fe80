"""Results count as unread only where they end the list. The user may have spoken behind them, and one request takes both:
look for the last result first.
"""

FAILS = "test_what_the_model_has_not_read_is_not_pruned"


def prune_read(messages, keep_recent, **settings):
    unread = 0
    while unread < len(messages) and messages[-1 - unread].get("role") == "tool":
        unread += 1
    return prune_old_tool_results(messages, max(keep_recent, unread), **settings)
