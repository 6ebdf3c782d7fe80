"""The ratio is upside down: `tokens` multiplies an estimate by it, so it is what was reported, divided by the
estimate.
"""

FAILS = "test_the_ratio_is_reported_by_estimated"


class TokenMeter:
    def report(self, prompt_tokens, estimate):
        if prompt_tokens > 0 and estimate > 0:
            self.ratio = estimate / prompt_tokens
