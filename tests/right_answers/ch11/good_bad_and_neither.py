class StuckAwareAgent:
    def judge(self, report):
        if report.outcome == "compressed":
            enough = int(COMPRESSION_MIN_SHRINK * report.before)
            self.poor_in_a_row = 0 if report.after < enough else self.poor_in_a_row + 1
            if self.poor_in_a_row:
                self.cooldown = SUMMARY_COOLDOWN
            if self.poor_in_a_row == MAX_POOR_SUMMARIES:
                raise CompressionStuckError(
                    before=report.before, after=report.after, messages=self.messages, report=report
                )
