"""Checking: what is wanted, run in processes of its own, judged, and told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from course.checker.misconceptions import with_misconception
from course.checker.project import Chapter, Project
from course.checker.runner import TIME_LIMIT, Event, run_exercises
from course.checker.verdict import DONE, WRONG, Verdict, verdicts


@dataclass(frozen=True)
class Outcome:
    """The verdicts of one check."""

    verdicts: tuple[Verdict, ...]

    @property
    def is_done(self) -> bool:
        """Whether every exercise of the check is done."""
        return bool(self.verdicts) and all(verdict.status == DONE for verdict in self.verdicts)


def check_project(project: Project, what: str | float | None = None, time_limit: float = TIME_LIMIT) -> Outcome:
    """The verdicts on "7" (a chapter), "7.2" (an exercise), or None (everything)."""
    if what is None:
        chapters = project.chapter_list()
        return check_exercises(project, chapters, [hole.number for each in chapters for hole in each.holes], time_limit)
    if "." in str(what):
        chapter, hole = project.find_exercise(what)
        return check_exercises(project, [chapter], [hole.number], time_limit)
    chapter = project.find_chapter(str(what))
    return check_exercises(project, [chapter], [hole.number for hole in chapter.holes], time_limit)


def check_exercises(
    project: Project, chapters: Sequence[Chapter], numbers: Sequence[str], time_limit: float = TIME_LIMIT
) -> Outcome:
    """The verdicts on these exercises of these chapters."""
    return judge(project, chapters, numbers, run_exercises(project, chapters, numbers, time_limit))


def judge(project: Project, chapters: Sequence[Chapter], numbers: Sequence[str], events: Sequence[Event]) -> Outcome:
    """The verdicts on these exercises, by what was written down while they were run."""
    by_number = {hole.number: chapter for chapter in chapters for hole in chapter.holes}
    judged = verdicts(project, chapters, numbers, events)
    return Outcome(
        tuple(
            with_misconception(project, by_number[verdict.number], verdict) if verdict.status == WRONG else verdict
            for verdict in judged
        )
    )
