"""Pruning that saved little counts as a poor summary: a false alarm, since no model was called and nothing was paid for.
Look at `report.outcome`.
"""

FAILS = "test_three_poor_summaries_in_a_row_are_the_end"


class StuckAwareAgent:
    def judge(self, report):
        if report.after < int(report.before * COMPRESSION_MIN_SHRINK):
            self.poor_in_a_row = 0
            return
        self.poor_in_a_row += 1
        self.cooldown = SUMMARY_COOLDOWN
        if self.poor_in_a_row >= MAX_POOR_SUMMARIES:
            raise CompressionStuckError(report.before, report.after, self.messages, report)
