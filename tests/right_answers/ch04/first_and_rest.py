class PromptAgent:
    def outgoing(self):
        history = list(super().outgoing())
        live = self.live_part()
        if live:
            has_system = bool(history) and history[0].get("role") in SYSTEM_ROLES
            first = dict(history.pop(0)) if has_system else {"role": "system"}
            texts = [text_of(first.get("content"))] if has_system else []
            first["content"] = "\n\n".join(texts + [live])
            history.insert(0, first)
        return history
