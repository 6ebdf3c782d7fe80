"""Chapter 4 · Prompts: a system prompt in layers, a stable part and a live part.

The system prompt says who the agent is, what it remembers, what it can do and how it should use its tools. It is sent
with every request, so two things count: its size, and that its bytes do not change. A provider caches the beginning of
a request that it has seen before; one changed word at the front, and everything behind it is paid for in full again.

    | personality | memory | skills | project | guidance |  task state, ... |
      the stable part: built once, the same bytes            the live part: new in every request, so it stands last

Every layer has a limit, or one long memory file fills the window before the first word of the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from reference.ch03_sessions import SessionAgent
from reference.messages import SYSTEM_ROLES, Message, clean_text, clip, text_of

# The layers in their order, each with its limit in characters.
LAYER_LIMITS = {"personality": 4_000, "memory": 4_000, "skills": 6_000, "project": 8_000, "guidance": 4_000}
PROJECT_FILES = ("AGENTS.md", "CONTRIBUTING.md")

# An internal key of the system message: the characters of the text that the caller brought, before the stable part.
OWN_LENGTH = "_own_length"


def build_system_prompt(layers: Mapping[str, str], live: str = "", limits: Mapping[str, int] = LAYER_LIMITS) -> str:
    """The system prompt: the layers in the order of `limits`, each cut to its limit in characters, `live` last.

    Empty layers leave nothing behind. A layer that is cut says so in its middle. A layer without a limit raises
    ValueError, since it would have no place.

    Example: build_system_prompt({"memory": "Likes tea.", "personality": "Be brief."}, "# State") is
    "Be brief.\\n\\nLikes tea.\\n\\n# State".
    """
    # BEGIN EXERCISE 4.1 Put the layers in order, each within its limit, and the live part behind them.
    if unknown := layers.keys() - limits.keys():
        raise ValueError(f"there is no layer {', '.join(sorted(unknown))}; the layers are {', '.join(limits)}")
    parts = [clip(clean_text(layers.get(name, "")).strip(), limit) for name, limit in limits.items()]
    return "\n\n".join(part for part in [*parts, live.strip()] if part)
    # END EXERCISE 4.1


def read_project_files(root: Path, names: Iterable[str] = PROJECT_FILES) -> str:
    """The text of a project's context files, each under its name; files that are not there are passed over."""
    files = [root / name for name in names]
    texts = [f"# {file.name}\n{file.read_text(encoding='utf-8', errors='replace')}" for file in files if file.is_file()]
    return "\n\n".join(texts)


class PromptBuilder:
    """The layers of one agent's system prompt; `stable()` gives the same bytes until `rebuild()`.

    A layer is a text, or a function that returns one: memory that changes in mid-session is read again at a rebuild
    only, since each change costs the whole cache.
    """

    def __init__(
        self, layers: Mapping[str, str | Callable[[], str]] | None = None, limits: Mapping[str, int] = LAYER_LIMITS
    ) -> None:
        self.layers = {name: [layer] for name, layer in (layers or {}).items()}
        self.limits = limits
        self._stable: str | None = None

    def add(self, layer: str, text: str) -> None:
        """Add a text to a layer, once; the prompt is built anew when it is asked for next."""
        texts = self.layers.setdefault(layer, [])
        if text not in texts:
            texts.append(text)
            self._stable = None

    def stable(self) -> str:
        """The stable part: built at the first call, the same text at every later one.

        Example: a builder with {"personality": "Be brief."} gives "Be brief." each time, whatever its layers say later.
        """
        # BEGIN EXERCISE 4.2 Build the prompt once and keep it.
        if self._stable is None:
            self._stable = build_system_prompt(self._texts(), limits=self.limits)
        return self._stable
        # END EXERCISE 4.2

    def rebuild(self) -> str:
        """The stable part with every layer read again; called after a compression, when the cache is lost anyway."""
        self._stable = None
        return self.stable()

    def _texts(self) -> dict[str, str]:
        """The text of each layer now."""
        return {
            name: "\n\n".join(text for layer in layers if (text := layer() if callable(layer) else layer))
            for name, layers in self.layers.items()
        }


class PromptAgent(SessionAgent):
    """An agent whose conversation begins with the stable part; the live part is put behind it in each request."""

    def __init__(self, *args: Any, prompt: PromptBuilder | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.prompt = prompt or PromptBuilder()

    def live_part(self) -> str:
        """What the system prompt says in this request only; chapter 12 puts the task state here."""
        return ""

    def run(self, messages: Iterable[Message]) -> dict[str, Any]:
        """What `run_conversation` returns; the conversation begins with the stable part of the system prompt."""
        return super().run(self.with_prompt(list(messages)))

    def with_prompt(self, messages: list[Message]) -> list[Message]:
        """The messages with the stable part in their system prompt, behind the text that they bring themselves.

        The message notes how long that text is, so that the stable part can be put in its place again.
        """
        stable = self.prompt.stable()
        if not messages or messages[0].get("role") not in SYSTEM_ROLES:
            messages = [{"role": "system", "content": "", OWN_LENGTH: 0}, *messages] if stable else messages
        system, own = messages[0] if messages else {}, ""
        if stable:
            text = text_of(system.get("content"))
            own = text[: system.get(OWN_LENGTH, len(text))]
        content = "\n\n".join(part for part in (own, stable) if part)
        if not stable or system.get("content") == content:
            return messages
        return [system | {"content": content, OWN_LENGTH: len(own)}, *messages[1:]]

    def outgoing(self) -> list[Message]:
        """The messages of the next request: the live part stands last in the system prompt, and nowhere else.

        The history keeps the stable part alone. Example: the system message "Be brief." and the live part "# State" are
        sent as "Be brief.\\n\\n# State".
        """
        # BEGIN EXERCISE 4.3 Add the live part behind the system prompt, in a copy of its message.
        live, messages = self.live_part(), super().outgoing()
        if not live:
            return messages
        if not messages or messages[0].get("role") not in SYSTEM_ROLES:
            return [{"role": "system", "content": live}, *messages]
        stable = text_of(messages[0].get("content"))
        return [messages[0] | {"content": f"{stable}\n\n{live}"}, *messages[1:]]
        # END EXERCISE 4.3
