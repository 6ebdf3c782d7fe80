"""The pytest plugin of the checker's own process: only the wanted exercises, every step written down as JSON lines.

The process may end at any moment, by an endless loop that the timer cuts off or by `os._exit`: what was written until
then tells where it was.
"""

from __future__ import annotations

import ast
import faulthandler
import json
import re
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from course.checker.answers import definitions
from course.checker.drawing import printable
from course.checker.failure import Comparison, Scene, line_of, tell
from course.checker.modules import forbidden_import, load_module
from course.checker.project import Chapter, find_project
from course.checker.reasons import row_reason
from course.checker.recording import Recorder, find_place
from course.checker.signatures import signature_problem
from course.stubs import Hole, digest, read_text

FOR_A_STUB = 2  # tests of a function that nobody has touched: they show that it raises, and so would all others
TRACE_FRAMES = 4  # for -v: the test's line and the learner's
MEMORY_LIMIT = 4 * 1024**3  # bytes of address space: a list that grows without end stops before the machine does


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options by which the checker starts this process."""
    group = parser.getgroup("course")
    group.addoption("--check-events", help="where every step is written down")
    group.addoption("--check-only", default="", help="exercise numbers, with commas")
    group.addoption("--time-limit", type=float, default=5.0, help="seconds that one test may take")


def pytest_configure(config: pytest.Config) -> None:
    """Begin to watch."""
    _limit_memory()
    config.pluginmanager.register(Watcher(config), "course-checker")


class Watcher:
    """Selects the tests, loads the files, and writes down what happens."""

    def __init__(self, config: pytest.Config) -> None:
        self.only = config.getoption("--check-only").split(",")
        self.limit: float = config.getoption("--time-limit")
        path = config.getoption("--check-events")  # both files stay open as long as this process
        self.events = open(path, "a", encoding="utf-8")  # noqa: SIM115
        self.stacks = open(f"{path}.stack", "a", encoding="utf-8")  # noqa: SIM115
        self.project = find_project(Path(config.getoption("--chapters")))
        self.comparison: Comparison | None = None

    def write(self, event: str, **data: Any) -> None:
        """Write one step down, and on disk before the next begins."""
        self.events.write(json.dumps({"event": event, **data}) + "\n")
        self.events.flush()

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Keep the tests of the wanted exercises whose function is there, in the order of the exercises."""
        tests: dict[str, list[pytest.Item]] = {number: [] for number in self.only}
        for item in items:
            if (number := exercise_of(item)) in tests:
                tests[number].append(item)
        kept: list[pytest.Item] = []
        for chapter in self.project.chapter_list():
            holes = [hole for hole in chapter.holes if hole.number in tests]
            if holes and self.can_be_loaded(chapter):
                for hole in holes:
                    if self.is_in_order(chapter, hole):
                        wanted = tests[hole.number][: FOR_A_STUB if self.is_a_stub(chapter, hole) else None]
                        self.write("tests", exercise=hole.number, count=len(wanted))
                        kept += wanted
        items[:] = kept

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        """Write down that this process came to its end by itself."""
        if exitstatus != pytest.ExitCode.INTERRUPTED:
            self.write("end")
        self.events.close()
        self.stacks.close()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Write down that a chapter's tests cannot be loaded: that says nothing about the learner's code."""
        match = re.search(r"test_ch(\d\d)_", report.nodeid)
        if report.failed and match:
            reason = report.longreprtext.strip().splitlines()[-1].lstrip("E ")
            why = f"The tests of this chapter cannot be loaded, whatever you wrote: {reason}"
            self.write("broken", chapter=int(match[1]), line=1, why=why)

    def can_be_loaded(self, chapter: Chapter) -> bool:
        """Whether the learner's file runs at all; if not, why is written down."""
        path = self.project.mine(chapter)
        self.write("load", chapter=chapter.number)
        faulthandler.dump_traceback_later(self.limit, exit=True, file=self.stacks)
        try:
            if found := forbidden_import(path):
                self.write("broken", chapter=chapter.number, line=found[0], why=found[1])
                return False
            load_module(path)
        except SyntaxError as error:
            why = f"This is not Python yet: {error.msg}."
            self.write("broken", chapter=chapter.number, line=error.lineno or 1, why=why, source=error.text or "")
            return False
        except BaseException as error:  # sys.exit at module level is one of the things that are reported
            self.write("broken", chapter=chapter.number, line=_last_line(error, path), why=_import_sentence(error))
            return False
        finally:
            faulthandler.cancel_dump_traceback_later()
        self.write("loaded", chapter=chapter.number, digest=digest(read_text(path)))
        return True

    def is_in_order(self, chapter: Chapter, hole: Hole) -> bool:
        """Whether the exercise's function is there with its signature; if not, why is written down."""
        mine, wanted = load_module(self.project.mine(chapter)), load_module(self.project.reference(chapter))
        places = [find_place(module, hole.owner) for module in (mine, wanted)]
        functions = [getattr(place, name, None) if place is not None else None for place, name in places]
        why = ""
        if functions[0] is None:
            why = f"{hole.owner} is not in the file any more: `course show {hole.number}` prints its beginning."
        elif functions[1] is not None:
            why = signature_problem(functions[0], functions[1])
        if why:
            self.write("problem", exercise=hole.number, line=line_of(mine, hole.owner), why=why)
        return not why

    def is_a_stub(self, chapter: Chapter, hole: Hole) -> bool:
        """Whether the exercise's function is still what was given out."""
        texts = read_text(self.project.mine(chapter)), self.project.stub(chapter)
        nodes = [definitions(ast.parse(text)).get(hole.owner) for text in texts]
        return nodes[0] is not None and nodes[1] is not None and ast.dump(nodes[0]) == ast.dump(nodes[1])

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Run one test with a limit of its own."""
        self.comparison = None
        self.write("start", exercise=exercise_of(item), test=item.name)
        faulthandler.dump_traceback_later(self.limit, exit=True, file=self.stacks)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> None:
        """Remember the values of a comparison that failed."""
        self.comparison = op, left, right

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
        """Write down how a test ended."""
        report: pytest.TestReport = yield
        number = exercise_of(item)
        if call.excinfo is not None:
            error, printed = call.excinfo.value, [printable(line) for line in report.capstdout.splitlines()[:10]]
            failure = self.failure(item, number, error)
            trace = "".join(traceback.format_exception(error, limit=-TRACE_FRAMES))
            self.write("failed", exercise=number, printed=printed, trace=trace, **failure)
        elif call.when == "call":
            self.write("passed", exercise=number, test=item.name)
        return report

    def failure(self, item: pytest.Item, number: str, error: BaseException) -> dict[str, Any]:
        """A failing test as data."""
        chapter, hole = self.project.find_exercise(number)
        arguments = getattr(item, "funcargs", {})
        recorder = getattr(item, "recorder", None) or Recorder()
        path = self.project.mine(chapter)
        told = tell(Scene(number, hole.owner, path, arguments.get("chapter"), recorder, self.comparison, error))
        return told | {"test": item.name, "rule": _rule(item), "row": _row(item)}


def exercise_of(item: pytest.Item) -> str:
    """The number of the exercise that a test is marked with, or ""."""
    marker = item.get_closest_marker("exercise")
    return str(marker.args[0]) if marker else ""


def _rule(item: pytest.Item) -> str:
    """What a test is about, by its name."""
    return getattr(item, "originalname", item.name).removeprefix("test_").replace("_", " ")


def _row(item: pytest.Item) -> str:
    """The comment beside the row of the table that a test was made from."""
    callspec = getattr(item, "callspec", None)
    if callspec is None or not isinstance(item, pytest.Function):
        return ""
    return row_reason(item.function, list(callspec.params), max(callspec.indices.values(), default=0))


def _last_line(error: BaseException, path: Path) -> int:
    """The line of the learner's file at which an error was raised."""
    trace, line = error.__traceback__, 1
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == str(path):
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _import_sentence(error: BaseException) -> str:
    """Why a file could not be run, in words that a learner knows."""
    if isinstance(error, FileNotFoundError):
        return "The file is not there: `course reset` with the chapter's number brings it back."
    if isinstance(error, UnicodeDecodeError):
        return "The file is not UTF-8 text: save it as UTF-8 in your editor."
    if isinstance(error, SystemExit):
        return "It ends Python while it is being loaded (`sys.exit`, `exit` or `quit`). Take that line out."
    if isinstance(error, ModuleNotFoundError):
        return f"It imports {error.name}, which is not there. The standard library and `reference` are enough."
    return f"It cannot be loaded: {type(error).__name__}: {error}"


def _limit_memory() -> None:
    """Let this process have so much memory and no more, where the system can do that."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
    except (ImportError, ValueError, OSError):
        pass
