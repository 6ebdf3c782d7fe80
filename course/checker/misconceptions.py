"""Which named wrong answer a learner's answer behaves like: the tests that fail, and the values that came back."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from course.checker.answers import read_answers
from course.checker.project import Chapter, Project
from course.checker.verdict import Failure, Verdict

RECORD = "fingerprints.json"  # beside the wrong answers of a chapter, written by `python -m course.checker.record`
LIKENESS = 0.5  # of all failing tests and values of both, this share must be the same

Fingerprint = Mapping[str, str]  # {failing test: value}


def fingerprint(failures: Sequence[Failure]) -> dict[str, str]:
    """{failing test: the value that came back}; what is the same for every stub and broken file is left out."""
    return {
        failure.test: failure.value for failure in failures if failure.test and failure.kind in ("wrong", "cut off")
    }


def record_path(project: Project, chapter: Chapter) -> Path:
    """Where the fingerprints of a chapter's wrong answers are."""
    return project.root / "tests" / "wrong_answers" / f"ch{chapter.number:02}" / RECORD


def read_fingerprints(project: Project, chapter: Chapter) -> dict[str, Fingerprint]:
    """{name of a wrong answer: its fingerprint}; {} where none are recorded."""
    path = record_path(project, chapter)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def likeness(mine: Fingerprint, known: Fingerprint) -> float:
    """The share of failing tests with the same value among all that fail in either."""
    same, every = mine.items() & known.items(), mine.items() | known.items()
    return len(same) / len(every) if every else 0.0


def most_like(mine: Fingerprint, known: Mapping[str, Fingerprint]) -> str:
    """The name of the wrong answer that fails in the same way, or "" when none does or two do equally."""
    ranked = sorted(((likeness(mine, each), name) for name, each in known.items()), reverse=True)
    if not ranked or ranked[0][0] < LIKENESS or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return ""
    return ranked[0][1]


def with_misconception(project: Project, chapter: Chapter, verdict: Verdict) -> Verdict:
    """The verdict with the sentence of the wrong answer that it behaves like, if there is one."""
    answers = {a.name: a for a in read_answers(project, chapter, "wrong") if a.exercise == verdict.number}
    known = {name: print_ for name, print_ in read_fingerprints(project, chapter).items() if name in answers}
    name = most_like(fingerprint(verdict.failures), known)
    return dataclasses.replace(verdict, misconception=answers[name].sentence) if name else verdict
