"""It stops whenever the list is over the limit, also when half of it was saved and the next time saves more.
Little has to have been saved as well.
"""

FAILS = "test_stuck_is_little_saved_and_over_the_limit"


def compress_or_raise(messages, summarize, *, limit=None, **settings):
    if report.after > limit if limit is not None else report.summarised > 0 or report.summary_failed:
        raise CompressionStuckError(report.before, report.after, result, report)
    return result, report
