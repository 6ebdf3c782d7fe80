"""Fixtures of all tests: the module under test, conversations made to measure, and the recorded ones."""

from __future__ import annotations

import importlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from course.provider import Model, Provider

Message = dict[str, Any]
SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture
def chapter(request: pytest.FixtureRequest) -> ModuleType:
    """The reference module that a test file `test_chNN_topic.py` is named after."""
    return importlib.import_module("reference." + request.path.stem.removeprefix("test_"))


def call(call_id: str, path: str = "a.md", tool: str = "read_file") -> Message:
    """One entry of `tool_calls`."""
    return {"id": call_id, "type": "function", "function": {"name": tool, "arguments": json.dumps({"path": path})}}


@pytest.fixture
def conversation() -> Callable[..., list[Message]]:
    """A function that makes a sound conversation: a system prompt, a request, and groups with the given results."""

    def make(results: list[Any], parallel: int = 1, reply: str | None = None) -> list[Message]:
        messages: list[Message] = [
            {"role": "system", "content": "You are a careful agent."},
            {"role": "user", "content": "Read the files."},
        ]
        for start in range(0, len(results), parallel):
            batch = results[start : start + parallel]
            calls = [call(f"call_{start + i}", f"{start + i}.md") for i in range(len(batch))]
            messages.append({"role": "assistant", "content": None, "tool_calls": calls})
            messages += [
                {"role": "tool", "tool_call_id": made["id"], "content": text}
                for made, text in zip(calls, batch, strict=True)
            ]
        if reply:
            messages.append({"role": "assistant", "content": reply})
        return messages

    return make


@pytest.fixture
def provider_with() -> Callable[..., Provider]:
    """A function that makes a real provider whose model `m` gives the replies in their order, the last for ever.

    A reply is an assistant message, or its text.
    """

    def make(*replies: Message | str, context_length: int = 100_000, **settings: Any) -> Provider:
        messages = [{"role": "assistant", "content": r} if isinstance(r, str) else r for r in replies]
        left = iter([*messages[:-1], *itertools.repeat(messages[-1], 1_000)])
        return Provider([Model("m", context_length, lambda body: next(left))], **settings)

    return make


def recorded_transcripts() -> list[tuple[str, list[Message]]]:
    """(name, messages) of every recorded transcript beside the project; [] where the folder is absent."""
    files = sorted(path for path in (SHARED / "traces").glob("*.json"))
    return [(path.stem, json.loads(path.read_text(encoding="utf-8"))["messages"]) for path in files]
