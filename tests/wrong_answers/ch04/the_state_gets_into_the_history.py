"""The live part is written into the history's own message: with every request one more stands in it, and all of
them are out of date. Change a copy: `messages[0] | {...}`.
"""

FAILS = "test_the_live_part_stands_last_in_the_system_prompt"


class PromptAgent:
    def outgoing(self):
        live, messages = self.live_part(), super().outgoing()
        if not live:
            return messages
        if not messages or messages[0].get("role") not in SYSTEM_ROLES:
            return [{"role": "system", "content": live}, *messages]
        messages[0]["content"] = f"{text_of(messages[0].get('content'))}\n\n{live}"
        return messages
