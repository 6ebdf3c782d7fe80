"""The baseline: what the course's own solution does, by which every submission is measured."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from course.checker.verdict import DONE, Verdict
from course.grader.channel import Event
from course.stubs import digest, read_text

CANARIES = 2  # tests of each exercise that are run again with a function that is known to be wrong
NOBODY = "Nobody can be judged here, because the course's own solution does not pass: {}"


@dataclass(frozen=True)
class Baseline:
    """What the course's own solution does in the box: the tests of each exercise, in order, and those for canaries."""

    tests: dict[str, list[str]] = field(default_factory=dict)
    canaries: dict[str, list[str]] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)  # exercises that nobody is judged on, and why


def read_baseline(events: Sequence[Event], judged: Sequence[Verdict]) -> Baseline:
    """The baseline in these events."""
    base = Baseline()
    for event in events:
        if event["event"] == "passed":
            base.tests.setdefault(event["exercise"], []).append(event["test"])
        elif event["event"] == "canary failed" and len(base.canaries.setdefault(event["exercise"], [])) < CANARIES:
            base.canaries[event["exercise"]].append(event["test"])
        elif event["event"] in ("seal", "odd"):
            base.problems[event["exercise"]] = NOBODY.format(event["name"])
    for verdict in judged:
        if verdict.status != DONE:
            base.problems[verdict.number] = NOBODY.format(verdict.failure.why if verdict.failure else verdict.status)
    return base


def course_digest(root: Path) -> str:
    """A short name for the tests and the reference that judge; what another state of them judged is judged again."""
    paths = [*root.glob("reference/*.py"), *root.glob("tests/*.py"), *root.glob("tests/exercises/*.py")]
    return digest("".join(f"{path.name}\0{digest(read_text(path))}" for path in sorted(paths)))
