"""The live part is a second system message, and a strict provider takes only one, the first. Put it behind the
text of the first.
"""

FAILS = "test_the_live_part_stands_last_in_the_system_prompt"


class PromptAgent:
    def outgoing(self):
        live, messages = self.live_part(), super().outgoing()
        return [*messages, {"role": "system", "content": live}] if live else messages
