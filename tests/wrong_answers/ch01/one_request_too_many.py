"""One request more than `max_iterations` is made. Compare before you ask: `while self.iterations <
self.max_iterations`.
"""

FAILS = "test_run_goes_on_until_a_reply_without_calls"


class Agent:
    def run(self, messages):
        self.messages, self.iterations = list(messages), 0
        while self.iterations <= self.max_iterations:
            self.iterations += 1
            reply = self.query()
            self.remember([reply])
            if not reply.get("tool_calls"):
                return self.outcome(reply["content"], "answer")
            self.remember(self.act(reply["tool_calls"]))
        return self.outcome("", "max_iterations")
