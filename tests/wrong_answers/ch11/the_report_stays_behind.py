"""The error takes only the two numbers with it: whoever catches it has no messages and no reason. Hand over this agent's
messages and the report too.
"""

FAILS = "test_the_error_of_poor_summaries_says_where_the_agent_stands"


class StuckAwareAgent:
    def judge(self, report):
        if report.outcome != "compressed":
            return
        if report.after < int(report.before * COMPRESSION_MIN_SHRINK):
            self.poor_in_a_row = 0
            return
        self.poor_in_a_row += 1
        self.cooldown = SUMMARY_COOLDOWN
        if self.poor_in_a_row >= MAX_POOR_SUMMARIES:
            raise CompressionStuckError(report.before, report.after)
