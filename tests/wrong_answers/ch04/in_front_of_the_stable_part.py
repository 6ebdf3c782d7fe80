"""The live part stands in front of the stable one, and as it changes the cache is lost from the first word on. It
stands last.
"""

FAILS = "test_the_live_part_stands_last_in_the_system_prompt"


class PromptAgent:
    def outgoing(self):
        live, messages = self.live_part(), super().outgoing()
        if not live:
            return messages
        if not messages or messages[0].get("role") not in SYSTEM_ROLES:
            return [{"role": "system", "content": live}, *messages]
        stable = text_of(messages[0].get("content"))
        return [messages[0] | {"content": f"{live}\n\n{stable}"}, *messages[1:]]
