"""The error goes out without the messages and the report, and whoever catches it has nothing to go on with. Hand
over all four: before, after, result, report.
"""

FAILS = "test_the_error_carries_all_that_is_known"


def compress_or_raise(messages, summarize, *, limit=None, **settings):
    over = report.after > limit if limit is not None else report.summarised > 0 or report.summary_failed
    if over and report.after >= int(report.before * COMPRESSION_MIN_SHRINK):
        raise CompressionStuckError(report.before, report.after)
    return result, report
