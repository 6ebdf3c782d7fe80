"""A text is taken for the answer although the reply also calls tools; those calls then have no results. Only a
reply without `tool_calls` ends the loop.
"""

FAILS = "test_run_goes_on_until_a_reply_without_calls"


class Agent:
    def run(self, messages):
        self.messages, self.iterations = list(messages), 0
        while self.iterations < self.max_iterations:
            self.iterations += 1
            reply = self.query()
            self.remember([reply])
            if reply["content"]:
                return self.outcome(reply["content"], "answer")
            self.remember(self.act(reply["tool_calls"]))
        return self.outcome("", "max_iterations")
