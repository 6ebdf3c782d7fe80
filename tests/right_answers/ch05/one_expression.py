class TokenMeter:
    def report(self, prompt_tokens, estimate):
        self.ratio = prompt_tokens / estimate if min(prompt_tokens, estimate) > 0 else self.ratio
