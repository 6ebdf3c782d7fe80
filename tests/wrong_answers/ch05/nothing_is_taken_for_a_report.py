"""A report of no tokens makes the ratio zero, and from then on the window looks empty for ever. Leave the ratio as it
is where one of the two numbers is 0.
"""

FAILS = "test_the_ratio_is_reported_by_estimated"


class TokenMeter:
    def report(self, prompt_tokens, estimate):
        if estimate:
            self.ratio = prompt_tokens / estimate
