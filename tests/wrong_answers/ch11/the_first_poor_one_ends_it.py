"""One summary that saved little ends the agent. The next may save more: only three in a row mean that it does not get on.
"""

FAILS = "test_three_poor_summaries_in_a_row_are_the_end"


class StuckAwareAgent:
    def judge(self, report):
        if report.outcome != "compressed":
            return
        if report.after < int(report.before * COMPRESSION_MIN_SHRINK):
            self.poor_in_a_row = 0
            return
        self.poor_in_a_row += 1
        self.cooldown = SUMMARY_COOLDOWN
        if self.poor_in_a_row:
            raise CompressionStuckError(report.before, report.after, self.messages, report)
