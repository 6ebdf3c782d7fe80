"""The count goes on after a summary that saved enough, and a long session is ended by three poor ones in a day. Set
`poor_in_a_row` to 0 there.
"""

FAILS = "test_three_poor_summaries_in_a_row_are_the_end"


class StuckAwareAgent:
    def judge(self, report):
        if report.outcome != "compressed":
            return
        if report.after < int(report.before * COMPRESSION_MIN_SHRINK):
            return
        self.poor_in_a_row += 1
        self.cooldown = SUMMARY_COOLDOWN
        if self.poor_in_a_row >= MAX_POOR_SUMMARIES:
            raise CompressionStuckError(report.before, report.after, self.messages, report)
