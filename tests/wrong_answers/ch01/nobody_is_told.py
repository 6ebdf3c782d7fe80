"""The messages are appended without a word to those who listen. Append with `self.remember(...)`, which tells
`on_event` of each.
"""

FAILS = "test_whoever_listens_hears_of_every_message"


class Agent:
    def run(self, messages):
        self.messages, self.iterations = list(messages), 0
        while self.iterations < self.max_iterations:
            self.iterations += 1
            reply = self.query()
            self.messages.append(reply)
            if not reply.get("tool_calls"):
                return self.outcome(reply["content"], "answer")
            self.messages.extend(self.act(reply["tool_calls"]))
        return self.outcome("", "max_iterations")
