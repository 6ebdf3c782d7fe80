def compress_or_raise(messages, summarize, *, limit=None, **settings):
    saved_enough = report.after < int(report.before * COMPRESSION_MIN_SHRINK)
    if saved_enough:
        return result, report
    if limit is None:
        fits = not report.summary_failed and report.summarised == 0
    else:
        fits = report.after <= limit
    if fits:
        return result, report
    raise CompressionStuckError(before=report.before, after=report.after, messages=result, report=report)
