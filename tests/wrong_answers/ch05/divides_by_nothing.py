"""Only the report is looked at: an estimate of nothing divides by zero, and the agent ends. Both numbers have to say
something.
"""

FAILS = "test_the_ratio_is_reported_by_estimated"


class TokenMeter:
    def report(self, prompt_tokens, estimate):
        if prompt_tokens:
            self.ratio = prompt_tokens / estimate
