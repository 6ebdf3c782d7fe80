"""The largest ratio so far is kept, to be on the safe side: after one page of Chinese every text counts double, and the
agent compresses too early.
"""

FAILS = "test_the_ratio_is_reported_by_estimated"


class TokenMeter:
    def report(self, prompt_tokens, estimate):
        if prompt_tokens > 0 and estimate > 0:
            self.ratio = max(self.ratio, prompt_tokens / estimate)
