"""The prompt is built anew at every call, so a memory that changes in mid-session changes the prompt, and the
cache is lost. Keep it in `self._stable`.
"""

FAILS = "test_a_layer_is_read_once_however_often_the_prompt_is_asked_for"


class PromptBuilder:
    def stable(self):
        return build_system_prompt(self._texts(), limits=self.limits)
