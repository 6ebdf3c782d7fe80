"""The auxiliary model of a case: a client that answers as the case's `summary` setting says."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

DEFAULT_REPLY = "## Goal\nas the user asked\n## Progress\nsteps so far\n## Next Steps\ngo on"


class FakeSummarizer:
    """A client with `chat.completions.create`; `requests` are what it was asked, `during` is called at each call.

    `reply` for ever, or `replies` one after the other; `error` is raised; over `max_input_tokens` (characters by four)
    the request is refused, as a real endpoint does; `echo_prompt` gives the prompt back; `max_chars` cuts the reply.
    """

    def __init__(self, setting: dict[str, Any], during: Callable[[], None]) -> None:
        self.setting, self.during = setting, during
        self.requests: list[dict[str, Any]] = []
        self.refused = 0
        self.chat = SimpleNamespace(completions=self)

    @property
    def prompts(self) -> list[str]:
        """The texts of the requests."""
        return [request["messages"][-1]["content"] for request in self.requests]

    def create(self, **request: Any) -> Any:
        """A response of the form that the `openai` client gives."""
        self.requests.append(request)
        self.during()
        prompt = self.prompts[-1]
        prompt.encode()  # a client that cannot write the request raises, as a real one does
        most = self.setting.get("max_input_tokens")
        if self.setting.get("error"):
            raise RuntimeError(self.setting["error"])
        if most is not None and len(prompt) // 4 > most:
            self.refused += 1
            raise RuntimeError(f"the request has {len(prompt) // 4:,} tokens, more than {most:,}")
        message = SimpleNamespace(content=self._text(prompt))
        choice = SimpleNamespace(message=message, finish_reason=self.setting.get("finish_reason", "stop"))
        return SimpleNamespace(choices=[choice], usage=None)

    def _text(self, prompt: str) -> str | None:
        if self.setting.get("echo_prompt"):
            return prompt
        replies = self.setting.get("replies")
        if replies:
            return replies[min(len(self.requests), len(replies)) - 1]
        return self.setting.get("reply", DEFAULT_REPLY)
