"""The checker's own processes: one for all wanted exercises, and another behind each that had to be cut off."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from course.checker.project import Chapter, CheckError, Project

TIME_LIMIT = 5.0  # seconds for one test; a right one takes some milliseconds
_LEFT_OUT = ("cacheprovider", "faulthandler", "warnings", "junitxml", "doctest", "unittest", "stepwise", "pastebin")

Event = dict[str, Any]


def run_exercises(
    project: Project, chapters: Sequence[Chapter], numbers: Sequence[str], time_limit: float = TIME_LIMIT
) -> list[Event]:
    """What happened to the exercises, as events in order.

    An exercise that hangs, or that ends Python, costs its own process: the others are run in a new one.
    """
    events: list[Event] = []
    chapters = [chapter for chapter in chapters if project.tests(chapter).exists()]
    left = [hole.number for chapter in chapters for hole in chapter.holes if hole.number in numbers]
    while left:
        wanted = [chapter for chapter in chapters if any(hole.number in left for hole in chapter.holes)]
        fresh, ended, errors = _run_process(project, wanted, left, time_limit)
        events += fresh
        if ended == "whole":
            break
        last = fresh[-1] if fresh else {}
        if last.get("event") not in ("load", "start"):
            raise CheckError(f"The check itself failed, not your code:\n{errors}")
        events.append({**last, "event": "cut off", "by": ended, "line": _line_of_stack(errors, project, wanted, last)})
        left = _behind(left, wanted, last)
    return events


def _run_process(
    project: Project, chapters: Sequence[Chapter], numbers: Sequence[str], time_limit: float
) -> tuple[list[Event], str, str]:
    """(events, how it ended: "whole", "time" or "exit", what it said about its end) of one process."""
    with tempfile.TemporaryDirectory(prefix="course-check-") as folder:
        path = Path(folder) / "events"
        command = [sys.executable, "-m", "pytest", *pytest_options(project, chapters, numbers, time_limit, path)]
        patience = 60 + 2 * time_limit * len(numbers)  # the timer inside ends a loop, long before
        try:
            done = subprocess.run(
                command, cwd=project.root, env=environment(), capture_output=True, stdin=subprocess.DEVNULL,
                timeout=patience, encoding="utf-8", errors="replace", check=False,
            )  # fmt: skip
            output = done.stdout + done.stderr
        except subprocess.TimeoutExpired:
            output = "Timeout"
        events, stack = read_events(path), _read(Path(f"{path}.stack"))
    if came_to_its_end(events):
        return events, "whole", ""
    return (events, "time", stack) if stack or output == "Timeout" else (events, "exit", output[-3_000:])


def environment() -> dict[str, str]:
    """The environment of a checking process: no plugins but its own, and the same order of sets in every run."""
    return os.environ | {
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTEST_ADDOPTS": "",
        "PYTHONHASHSEED": "0",
        "PYTHONIOENCODING": "utf-8",
    }


def pytest_options(
    project: Project, chapters: Sequence[Chapter], numbers: Sequence[str], time_limit: float, events: Path
) -> list[str]:
    """The options by which pytest checks these exercises and writes its steps to the file `events`."""
    tests = [str(path) for path in map(project.tests, chapters) if path.exists()]
    left_out = [part for plugin in _LEFT_OUT for part in ("-p", f"no:{plugin}")]
    options = ["--mine", "--chapters", str(project.chapters), "--check-events", str(events)]
    options += ["--check-only", ",".join(numbers), "--time-limit", str(time_limit)]
    options += ["-q", "--tb=line", "--continue-on-collection-errors"]
    return [*left_out, "-p", "course.checker.plugin", *options, *tests]


def read_events(path: Path) -> list[Event]:
    """The steps that a checking process wrote down."""
    return [json.loads(line) for line in _read(path).splitlines()]


def came_to_its_end(events: Sequence[Event]) -> bool:
    """Whether the process that wrote these steps was not cut off."""
    return bool(events) and events[-1]["event"] == "end"


def _read(path: Path) -> str:
    """The text of a file, "" where there is none."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _line_of_stack(stack: str, project: Project, chapters: Sequence[Chapter], last: Event) -> int:
    """The line of the learner's file at which the time ran out; 1 where the stack does not tell."""
    stem = next((c.stem for c in chapters if c.number == _chapter_number(last)), "")
    match = re.search(re.escape(f"{stem}.py") + r'", line (\d+)', stack.replace(f"test_{stem}", ""))
    return int(match[1]) if match else 1


def _chapter_number(event: Event) -> int:
    """The chapter that an event is about."""
    return event["chapter"] if "chapter" in event else int(event["exercise"].partition(".")[0])


def _behind(left: Sequence[str], chapters: Sequence[Chapter], last: Event) -> list[str]:
    """The exercises that are still to be run, when the process ended at this one; exercises are run in order."""
    if last["event"] == "load":
        number = last["chapter"]
        return [each for each in left if int(each.partition(".")[0]) != number]
    order = [hole.number for chapter in chapters for hole in chapter.holes if hole.number in left]
    return order[order.index(last["exercise"]) + 1 :]
