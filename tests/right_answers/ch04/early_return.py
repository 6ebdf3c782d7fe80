class PromptBuilder:
    def stable(self):
        kept = self._stable
        if kept is not None:
            return kept
        self._stable = built = build_system_prompt(layers=self._texts(), live="", limits=self.limits)
        return built
