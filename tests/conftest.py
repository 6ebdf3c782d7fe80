"""Fixtures of all tests: the module under test, conversations made to measure, and the recorded ones."""

from __future__ import annotations

import importlib
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest

from course.checker.bench import module_under_test
from course.checker.project import find_project

if TYPE_CHECKING:  # the provider takes half a second to import, and most exercises need none
    from course.provider import Provider

Message = dict[str, Any]
ROOT = Path(__file__).resolve().parents[1]
SHARED = ROOT.parent / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("course")
    group.addoption("--mine", action="store_true", help="test the files in chapters/ instead of the reference")
    group.addoption("--chapters", default=str(ROOT / "chapters"), help="where those files are, with --mine")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "exercise(number): what `course check` runs for this exercise")


def pytest_report_header(config: pytest.Config) -> str:
    if config.getoption("--mine"):
        return f"course: testing YOUR files in {Path(config.getoption('--chapters')).name}/"
    return "course: testing the reference; `pytest --mine` tests your files in chapters/"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """With --mine only what can test a learner's file: a test that looks elsewhere would be green for a stub."""
    if config.getoption("--mine"):
        mine = [item for item in items if "chapter" in getattr(item, "fixturenames", ())]
        config.hook.pytest_deselected(items=[item for item in items if item not in mine])
        items[:] = mine


@pytest.fixture
def chapter(request: pytest.FixtureRequest) -> ModuleType:
    """The module that a test file `test_chNN_topic.py` is named after: the reference, or with --mine the learner's."""
    stem = request.path.stem.removeprefix("test_")
    if not request.config.getoption("--mine"):
        return importlib.import_module("reference." + stem)
    project = find_project(Path(request.config.getoption("--chapters")))
    module, request.node.recorder = module_under_test(project, stem)
    return module


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
        from course.provider import Model, Provider

        return Provider([Model("m", context_length, lambda body: next(left))], **settings)

    return make


def provider_of(context_length: int, answer: Callable[[Message], Message]) -> Provider:
    """A real provider whose model `m` has a window of so many tokens and answers each request body with a message."""
    from course.provider import Model, Provider

    return Provider([Model("m", context_length, answer)])


def recorded_transcripts() -> list[tuple[str, list[Message]]]:
    """(name, messages) of every recorded transcript beside the project; [] where the folder is absent."""
    files = sorted(path for path in (SHARED / "traces").glob("*.json"))
    return [(path.stem, json.loads(path.read_text(encoding="utf-8"))["messages"]) for path in files]
