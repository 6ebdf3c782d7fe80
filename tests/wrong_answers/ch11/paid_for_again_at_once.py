"""After a poor summary the next is tried before the very next request, and saves as little. Set `cooldown`: then some
compressions go without.
"""

FAILS = "test_after_a_poor_summary_the_next_ones_wait"


class StuckAwareAgent:
    def judge(self, report):
        if report.outcome != "compressed":
            return
        if report.after < int(report.before * COMPRESSION_MIN_SHRINK):
            self.poor_in_a_row = 0
            return
        self.poor_in_a_row += 1
        if self.poor_in_a_row >= MAX_POOR_SUMMARIES:
            raise CompressionStuckError(report.before, report.after, self.messages, report)
