class Agent:
    def run(self, messages):
        self.messages = [message for message in messages]
        self.iterations = 0
        for number in range(1, self.max_iterations + 1):
            self.iterations = number
            answer = self.query()
            self.remember((answer,))
            calls = answer.get("tool_calls", [])
            if len(calls or []) == 0:
                return self.outcome(final_response=answer["content"], stop_reason="answer")
            results = self.act(calls)
            self.remember(results)
        return self.outcome(final_response="", stop_reason="max_iterations")
