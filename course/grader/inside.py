"""The pytest plugin of the judged process: sealed events, canaries, seals, and the guard.

It is loaded beside the checker's own plugin, which selects and runs the tests and finds the words. This one

- reads its orders and the key from standard input and closes both streams, before any submitted code is loaded;
- sends the checker's events, sealed, over what was standard output; prints go nowhere;
- runs some tests a second time as *canaries*: the same tests, mixed with the others, with a function under test that
  raises. A canary that passes shows that tests pass whatever the code does;
- compares after each test the functions of pytest, of the tests and of Python with what they were before;
- looks at what came back: an object that says it equals everything is no answer.

What this cannot do: code in the same interpreter that gets at raw memory, or that was written against this very file,
can imitate all of it. Python has no wall inside a process. The box (`box.py`) is the wall for the machine; a verdict
that decides about more than an exercise deserves a look at the code.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from course.checker.modules import load_module
from course.checker.plugin import exercise_of
from course.checker.project import Project, find_project
from course.checker.recording import Recorder, find_place
from course.grader.channel import make_sealer
from course.grader.guard import set_guard
from course.grader.seals import first_broken, odd_class, take_seals

_taken: list[tuple[bytes, int]] = []  # the orders and the way out, between the first hook and the second
Send = Callable[[dict[str, Any]], None]

_TEXT_LIMIT = 2_000  # characters of one text in an event
_LIST_LIMIT = 60


def pytest_addoption() -> None:
    """Read the orders and take the way out, before pytest prints or captures anything."""
    orders, out = sys.stdin.buffer.readline(), os.dup(1)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    _taken.append((orders, out))


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Take over from the checker's watcher before anything is collected."""
    text, out = _taken.pop()
    orders = json.loads(text)
    watcher: Any = config.pluginmanager.get_plugin("course-checker")
    send = _sender(out, make_sealer(bytes.fromhex(orders.pop("key"))))
    config.pluginmanager.register(Judge(config, watcher, orders["canaries"], send), "course-grader")
    set_guard(orders["scratch"])


def _sender(out: int, seal: Callable[[dict[str, Any]], bytes]) -> Send:
    """A function that sends one event, whole, before it returns."""
    write, lock = os.write, threading.Lock()

    def send(event: dict[str, Any]) -> None:
        with lock:
            data = seal({key: _clipped(value) for key, value in event.items()})
            while data:
                data = data[write(out, data) :]

    return send


def _clipped(value: Any) -> Any:
    """A value with its texts and lists cut to a size that a reader can use."""
    if isinstance(value, str):
        return value[:_TEXT_LIMIT]
    if isinstance(value, list):
        return [_clipped(each) for each in value[:_LIST_LIMIT]]
    return {key: _clipped(each) for key, each in value.items()} if isinstance(value, dict) else value


class Judge:
    """Adds canaries to the tests, and sends what the checker's watcher writes down."""

    def __init__(
        self,
        config: pytest.Config,
        watcher: Any,
        canaries: dict[str, list[str]],
        send: Callable[[dict[str, Any]], None],
    ) -> None:
        self.project: Project = find_project(Path(config.getoption("--chapters")))
        self.wanted, self.send = canaries, send
        self.canaries: set[pytest.Item] = set()
        self.current: pytest.Item | None = None
        self.solved: dict[int, ModuleType] = {}
        self.seals, self.first_broken = take_seals(), first_broken  # a name in this module could be replaced
        watcher.write = self.write

    def write(self, event: str, **data: Any) -> None:
        """Send one step; a canary's steps have names of their own."""
        if self.current in self.canaries and event in ("start", "passed", "failed"):
            self.send({"event": f"canary {event}", "exercise": data["exercise"], "test": data["test"]})
        else:
            self.send({"event": event, **data})

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> Generator[None, None, None]:
        """Mix the canaries into the tests of their exercise, behind what the checker has kept."""
        self.solved = {c.number: load_module(self.project.reference(c)) for c in self.project.chapter_list()}
        self.seals = take_seals()  # the tests are loaded by now, and no submitted file is
        yield
        if broken := self.first_broken(self.seals):
            self.send({"event": "seal", "exercise": "", "name": broken})
        mixed: list[pytest.Item] = []
        for number in dict.fromkeys(map(exercise_of, items)):
            group = [item for item in items if exercise_of(item) == number]
            for item in [each for each in group if {each.name, "*"} & set(self.wanted.get(number, ()))]:
                canary = _twin(item)
                self.canaries.add(canary)
                group.insert(random.SystemRandom().randrange(len(group) + 1), canary)
            mixed += group
        items[:] = mixed

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Remember which test is running."""
        self.current = item
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: pytest.FixtureRequest) -> Generator[None, Any, Any]:
        """Give a canary a module whose function under test raises."""
        value = yield
        if fixturedef.argname == "chapter" and request.node in self.canaries:
            number = exercise_of(request.node)
            _, hole = self.project.find_exercise(number)
            place, name = find_place(value, hole.owner)
            setattr(place, name, _raising(number))
        return value

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Look at what came back and at the seals, as soon as the test's own lines have run."""
        number = exercise_of(item)
        if call.when == "call" and item not in self.canaries:
            if call.excinfo is None and (odd := self.odd_result(item, number)):
                self.send({"event": "odd", "exercise": number, "name": odd})
            if broken := self.first_broken(self.seals):
                self.send({"event": "seal", "exercise": number, "name": broken})
        return (yield)

    def odd_result(self, item: pytest.Item, number: str) -> str:
        """The class of a result of the function under test that says itself what it equals, or ""."""
        chapter, hole = self.project.find_exercise(number)
        recorder = getattr(item, "recorder", None) or Recorder()
        results = [call.result for call in recorder.calls if call.owner == hole.owner]
        return next((odd for result in results if (odd := odd_class(result, self.solved[chapter.number]))), "")


def _twin(item: pytest.Item) -> pytest.Item:
    """The same test again, as another item."""
    assert isinstance(item, pytest.Function)
    callspec, fixtures = getattr(item, "callspec", None), item._fixtureinfo
    return pytest.Function.from_parent(
        item.parent,
        name=item.name,
        callspec=callspec,
        callobj=item.obj,
        fixtureinfo=fixtures,
        originalname=item.originalname,
    )


def _raising(number: str) -> Callable[..., Any]:
    """A function that is known to be wrong."""

    def canary(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"exercise {number}: canary")

    return canary
