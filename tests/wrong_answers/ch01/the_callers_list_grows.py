"""`self.messages = messages` makes the history the caller's own list, and it grows with every reply. Begin with a
copy: `list(messages)`.
"""

FAILS = "test_a_run_begins_anew_and_leaves_the_input_alone"


class Agent:
    def run(self, messages):
        self.messages, self.iterations = messages, 0
        while self.iterations < self.max_iterations:
            self.iterations += 1
            reply = self.query()
            self.remember([reply])
            if not reply.get("tool_calls"):
                return self.outcome(reply["content"], "answer")
            self.remember(self.act(reply["tool_calls"]))
        return self.outcome("", "max_iterations")
