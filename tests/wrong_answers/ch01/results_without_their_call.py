"""The reply with the calls is not remembered, only its results. A result without the call before it is refused:
remember the reply first.
"""

FAILS = "test_run_goes_on_until_a_reply_without_calls"


class Agent:
    def run(self, messages):
        self.messages, self.iterations = list(messages), 0
        while self.iterations < self.max_iterations:
            self.iterations += 1
            reply = self.query()
            if not reply.get("tool_calls"):
                self.remember([reply])
                return self.outcome(reply["content"], "answer")
            self.remember(self.act(reply["tool_calls"]))
        return self.outcome("", "max_iterations")
