"""A reply on the wire: cut to its limit, as one object or as chunks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from course.provider.message_rules import bad_text, tool_calls
from course.provider.tokens import Tokenizer

Message = dict[str, Any]


@dataclass(frozen=True)
class Completion:
    """One answered request: what both forms, plain and streamed, are made of."""

    id: str
    created: int
    model: str
    message: Message
    finish_reason: str
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int

    def usage(self) -> dict[str, Any]:
        """Token counts in the form of the wire."""
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "total_tokens": self.prompt_tokens + self.completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
        }

    def plain(self) -> dict[str, Any]:
        """The whole answer as one `chat.completion` object."""
        message = {"role": "assistant", "content": None, "refusal": None} | self.message
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self.finish_reason}
        return self._head("chat.completion") | {"choices": [choice], "usage": self.usage()}

    def chunks(self, include_usage: bool) -> Iterator[dict[str, Any]]:
        """The answer as `chat.completion.chunk` objects: role, text, calls, the end, and the usage if asked for."""
        head = self._head("chat.completion.chunk") | ({"usage": None} if include_usage else {})
        for delta in self._deltas():
            yield head | {"choices": [_choice(delta, None)]}
        yield head | {"choices": [_choice({}, self.finish_reason)]}
        if include_usage:
            yield head | {"choices": [], "usage": self.usage()}

    def _head(self, kind: str) -> dict[str, Any]:
        return {"id": self.id, "object": kind, "created": self.created, "model": self.model}

    def _deltas(self) -> Iterator[Message]:
        text = self.message.get("content")
        yield {"role": "assistant", "content": None if text is None else "", "refusal": None}
        for piece in _pieces(text or ""):
            yield {"content": piece}
        for index, call in enumerate(self.message.get("tool_calls") or ()):
            function = {"name": call["function"]["name"], "arguments": ""}
            yield {"tool_calls": [{"index": index, "id": call["id"], "type": "function", "function": function}]}
            for piece in _pieces(call["function"]["arguments"]):
                yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def problem_with(reply: Any) -> str | None:
    """Why `reply` is no assistant message that can be sent, or None. An empty one can."""
    if not isinstance(reply, dict) or reply.get("role") != "assistant":
        return "expected an assistant message"
    if not isinstance(reply.get("content"), str | None):
        return "expected text or None as content"
    if bad := bad_text(reply):
        return bad
    found = next(tool_calls([reply]), None) if "tool_calls" in reply else None
    if found is None and not all(isinstance(c["function"].get("arguments"), str) for c in reply.get("tool_calls", ())):
        return "expected arguments as a string"
    return found[2] if found else None


def clipped(reply: Message, limit: int | None, tokenizer: Tokenizer) -> tuple[Message, int, bool]:
    """`reply` within `limit` tokens, its length in tokens, and whether something was cut.

    As in life, the cut falls where it falls: in the text, or in a call's arguments, in mid-JSON; what follows is gone.
    """
    budget = Budget(limit, tokenizer)
    content = reply.get("content")
    message: Message = {"role": "assistant", "content": None if content is None else budget.take(content)}
    calls = []
    for call in reply.get("tool_calls") or ():
        name = budget.take(call["function"]["name"])
        if budget.cut:
            break
        calls.append(call | {"function": {"name": name, "arguments": budget.take(call["function"]["arguments"])}})
    return message | ({"tool_calls": calls} if calls else {}), budget.used, budget.cut


class Budget:
    """What may still be said, in tokens; `cut` once a text did not fit."""

    def __init__(self, limit: int | None, tokenizer: Tokenizer) -> None:
        self.limit, self.tokenizer = limit, tokenizer
        self.used, self.cut = 0, False

    def take(self, text: str) -> str:
        """As much of `text` as fits; it counts as used."""
        size = len(self.tokenizer.encode(text))
        room = size if self.limit is None else min(size, self.limit - self.used)
        self.used += room
        self.cut = self.cut or room < size
        return self.tokenizer.clip(text, room)


def _pieces(text: str) -> list[str]:
    return re.findall(r"\s*\S+|\s+\Z", text)


def _choice(delta: Message, finish_reason: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
