"""The limits that this builder was given are not used. Hand on `limits=self.limits`."""

FAILS = "test_the_builders_own_limits_count"


class PromptBuilder:
    def stable(self):
        if self._stable is None:
            self._stable = build_system_prompt(self._texts())
        return self._stable
