"""Without a system message the live part is lost, or put into the user's words. It then gets a system message of
its own, in front.
"""

FAILS = "test_the_live_part_stands_last_in_the_system_prompt"


class PromptAgent:
    def outgoing(self):
        live, messages = self.live_part(), super().outgoing()
        if not live or not messages or messages[0].get("role") not in SYSTEM_ROLES:
            return messages
        stable = text_of(messages[0].get("content"))
        return [messages[0] | {"content": f"{stable}\n\n{live}"}, *messages[1:]]
