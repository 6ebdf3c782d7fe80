"""It stops whenever little was saved, also when the list fits and little was needed. The list has to be over the
limit as well.
"""

FAILS = "test_stuck_is_little_saved_and_over_the_limit"


def compress_or_raise(messages, summarize, *, limit=None, **settings):
    if report.after >= int(report.before * COMPRESSION_MIN_SHRINK):
        raise CompressionStuckError(report.before, report.after, result, report)
    return result, report
