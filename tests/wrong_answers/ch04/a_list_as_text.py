"""The content of a system message can be a list of parts, and put into a text it becomes brackets and quotes.
`text_of` gives its text.
"""

FAILS = "test_the_live_part_stands_last_in_the_system_prompt"


class PromptAgent:
    def outgoing(self):
        live, messages = self.live_part(), super().outgoing()
        if not live:
            return messages
        if not messages or messages[0].get("role") not in SYSTEM_ROLES:
            return [{"role": "system", "content": live}, *messages]
        return [messages[0] | {"content": f"{messages[0].get('content')}\n\n{live}"}, *messages[1:]]
