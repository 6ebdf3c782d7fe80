"""Your own chapter in the survey, among the reference's others.

survey_by_mine("ch06")           the survey with your chapter 6, once `check` says that it is done
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from course.checker.check import check_project
from course.checker.notebook import mine
from course.checker.project import find_project
from course.checker.verdict import DONE, NOT_STARTED
from course.lab import survey
from course.timeline import Timeline


def unsolved(chapter: str) -> str:
    """A sentence that names the exercises of a chapter, such as "ch06", that are not done; "" when all are."""
    verdicts = check_project(find_project(), chapter).verdicts
    left = [verdict for verdict in verdicts if verdict.status != DONE]
    if not left:
        return ""
    numbers = ", ".join(verdict.number for verdict in left)
    state = "not started" if all(verdict.status == NOT_STARTED for verdict in left) else "not done yet"
    subject = f"exercises {numbers} are" if len(left) > 1 else f"exercise {numbers} is"
    return f"{left[0].path}: {subject} {state}. Once `check` says done, this cell shows what your code does."


def survey_by_mine(chapter: str, without: Collection[str] | str = (), **settings: Any) -> Timeline | None:
    """The survey with all that your file of a chapter defines; None, and a sentence, while it is not solved.

    `without` and `settings` are those of `course.lab.survey`.
    """
    if sentence := unsolved(chapter):
        print(sentence)
        return None
    return survey(without, using=own_names(mine(chapter)), **settings)


def own_names(module: ModuleType) -> dict[str, Any]:
    """What a learner's chapter defines itself under a name that the reference's chapter has too, by that name."""
    there = vars(import_module(f"reference.{Path(str(module.__file__)).stem}"))
    return {name: value for name, value in vars(module).items() if name in there and _is_own(name, value, module)}


def _is_own(name: str, value: Any, module: ModuleType) -> bool:
    """Whether a module defines a name itself: a function, a class, or a constant."""
    return name.isupper() or getattr(value, "__module__", None) == module.__name__
