"""What came out for each exercise: done, not started, or wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course.checker.project import Chapter, Project
from course.stubs import Hole, digest, read_text

DONE, NOT_STARTED, WRONG = "done", "not started", "wrong"

Event = dict[str, Any]


@dataclass(frozen=True)
class Failure:
    """One failing test of an exercise, as it is shown."""

    kind: str = "wrong"  # wrong, stub, waits, or cut off
    test: str = ""
    value: str = ""  # by which a named wrong answer is recognised
    line: int = 1
    called: str = ""
    got: str = ""
    expected: str = ""
    why: str = ""
    rule: str = ""
    row: str = ""
    rows: tuple[Event, ...] = ()
    printed: tuple[str, ...] = ()
    trace: str = ""


@dataclass(frozen=True)
class Verdict:
    """One exercise: its status and, when it is wrong, the first failing test and where to look."""

    number: str
    task: str
    owner: str
    status: str
    path: str  # relative to the project
    line: int = 1
    failure: Failure | None = None
    failures: tuple[Failure, ...] = ()
    passed: int = 0
    misconception: str = ""
    notes: tuple[str, ...] = field(default=())


def verdicts(
    project: Project, chapters: Sequence[Chapter], numbers: Sequence[str], events: Sequence[Event]
) -> list[Verdict]:
    """One verdict for each wanted exercise, from what its process wrote down."""
    return [
        _verdict(project, chapter, hole, [event for event in events if _is_about(event, chapter, hole)])
        for chapter in chapters
        for hole in chapter.holes
        if hole.number in numbers
    ]


def _is_about(event: Event, chapter: Chapter, hole: Hole) -> bool:
    """Whether an event is about this exercise, or about its whole file."""
    return event.get("exercise") == hole.number if "exercise" in event else event.get("chapter") == chapter.number


def _verdict(project: Project, chapter: Chapter, hole: Hole, events: list[Event]) -> Verdict:
    """The verdict on one exercise; done only when every one of its tests ran on the file that is there, and passed."""
    path = project.mine(chapter)
    failures = [_failure(event) for event in events if event["event"] in ("failed", "broken", "problem", "cut off")]
    passed = sum(event["event"] == "passed" for event in events)
    due = max((event["count"] for event in events if event["event"] == "tests"), default=0)
    ran = [event["digest"] for event in events if event["event"] == "loaded"]
    if not failures and (not due or passed < due):
        failures = [Failure(why=f"Of {due} tests {passed} ran to their end: this says nothing about your code.")]
    elif not failures and set(ran) != {digest(read_text(path))}:
        failures = [Failure(why="The file was saved while it was being checked. Check again.")]
    untouched = failures and _is_untouched(failures, passed, hole, path)
    status = DONE if not failures else NOT_STARTED if untouched else WRONG
    shown = _first(failures)
    return Verdict(
        hole.number, hole.task, hole.owner, status, project.shown(path), shown.line if shown else 1,
        shown, tuple(failures), passed,
    )  # fmt: skip


def _is_untouched(failures: list[Failure], passed: int, hole: Hole, path: Path) -> bool:
    """Whether all that happened is that stubs were reached, this one's among them or still in the file."""
    if passed or any(failure.kind not in ("stub", "waits") for failure in failures):
        return False
    return f'NotImplementedError("exercise {hole.number}:' in read_text(path)


def _first(failures: list[Failure]) -> Failure | None:
    """The failure to show: the first that is about this code, since a stub's line says less."""
    ranked = sorted(failures, key=lambda failure: failure.kind in ("stub", "waits"))
    return ranked[0] if ranked else None


def _failure(event: Event) -> Failure:
    """An event of a failing test, of a broken file, or of a process that was cut off."""
    kinds = {"failed": event.get("kind", "wrong"), "cut off": "cut off"}
    known = {
        key: event[key] for key in ("test", "value", "line", "called", "got", "expected", "rule", "row") if key in event
    }
    why, value = event.get("why", ""), known.pop("value", event["event"])
    if event["event"] == "cut off":
        why, value = _end_sentence(event), f"cut off by {event['by']}"
    elif event.get("kind") == "waits":
        why = f"It uses exercise {event['for']}, which is not written yet: do that one first."
    elif event.get("kind") == "stub":
        why = "The stub's own line, `raise NotImplementedError`, is still reached."
    rows, printed = tuple(event.get("rows", ())), tuple(event.get("printed", ()))
    kind = kinds.get(event["event"], "wrong")
    return Failure(kind=kind, value=value, why=why, rows=rows, printed=printed, trace=event.get("trace", ""), **known)


def _end_sentence(event: Event) -> str:
    """Why a process was cut off."""
    if event["by"] == "time":
        return "It never ends: a loop whose condition stays true, or a list that grows while it is read."
    return "It ended Python itself (`os._exit`, or a crash). A function returns its result, or raises an error."
