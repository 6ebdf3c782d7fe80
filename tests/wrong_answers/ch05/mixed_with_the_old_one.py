"""The new ratio is mixed with the old one, which was of another text, and the 1 of the beginning was no measurement at
all. The last report alone is of what the window holds now.
"""

FAILS = "test_the_ratio_is_reported_by_estimated"


class TokenMeter:
    def report(self, prompt_tokens, estimate):
        if prompt_tokens > 0 and estimate > 0:
            self.ratio = (self.ratio + prompt_tokens / estimate) / 2
