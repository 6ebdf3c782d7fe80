"""Hints: three for each exercise, each saying more than the one before, the last nearly code."""

from __future__ import annotations

import tomllib
from pathlib import Path

from course.checker.project import Chapter, CheckError, Project

LEVELS = 3


def hints_path(project: Project, chapter: Chapter) -> Path:
    """The file with a chapter's hints: a table `"7.2" = [first, second, third]`."""
    return project.root / "hints" / f"ch{chapter.number:02}.toml"


def read_hints(project: Project, chapter: Chapter) -> dict[str, list[str]]:
    """{exercise: its hints}; {} where none are written."""
    path = hints_path(project, chapter)
    found = tomllib.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return {number: [hint.strip("\n") for hint in hints] for number, hints in found.items()}


def hint_text(project: Project, number: str | float, level: int = 1) -> str:
    """A hint of an exercise, 1 to 3, and how to see the next; CheckError when there is none."""
    chapter, hole = project.find_exercise(number)
    hints = read_hints(project, chapter).get(hole.number, [])
    if not hints:
        raise CheckError(f"There are no hints for {hole.number} yet.")
    if not 1 <= level <= len(hints):
        raise CheckError(f"Exercise {hole.number} has the hints 1 to {len(hints)}; found {level}.")
    more = (
        f"More: `course hint {hole.number} {level + 1}`"
        if level < len(hints)
        else f"That was the last. `course show {hole.number} --solution` shows how the course does it."
    )
    return f"{hole.number}, hint {level} of {len(hints)}\n\n{hints[level - 1]}\n\n{more}\n"
