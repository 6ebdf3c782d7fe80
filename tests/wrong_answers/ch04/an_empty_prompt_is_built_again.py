"""`if not self._stable` builds an empty prompt again at every call, since "" counts as false. Compare with None."""

FAILS = "test_a_layer_is_read_once_however_often_the_prompt_is_asked_for"


class PromptBuilder:
    def stable(self):
        if not self._stable:
            self._stable = build_system_prompt(self._texts(), limits=self.limits)
        return self._stable
