"""The prompt is kept somewhere else than in `self._stable`, which `rebuild` and `add` set to None: it is never
built again.
"""

FAILS = "test_the_stable_part_is_built_once_until_it_is_rebuilt"


class PromptBuilder:
    def stable(self):
        if not hasattr(self, "_kept"):
            self._kept = build_system_prompt(self._texts(), limits=self.limits)
        return self._kept
