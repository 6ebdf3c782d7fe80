"""Without a limit it never stops, and an agent that has none compresses for ever. Without a limit a list counts as
over it once there was something to compress.
"""

FAILS = "test_stuck_is_little_saved_and_over_the_limit"


def compress_or_raise(messages, summarize, *, limit=None, **settings):
    if limit is not None and report.after > limit and report.after >= int(report.before * COMPRESSION_MIN_SHRINK):
        raise CompressionStuckError(report.before, report.after, result, report)
    return result, report
