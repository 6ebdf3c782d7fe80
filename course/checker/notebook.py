"""The three functions that notebooks use: `check`, `hint` and `mine`."""

from __future__ import annotations

from types import ModuleType

from course.checker.check import check_project
from course.checker.hints import hint_text
from course.checker.modules import load_module
from course.checker.page import OutcomePage, TextPage, notebook_words
from course.checker.project import CheckError, find_project


def check(what: str | float | None = None) -> OutcomePage:
    """What `course check` says, as a page: for a chapter ("7"), an exercise ("7.2"), or everything.

    The file is read from disk each time: save it in your editor, then run the cell.
    """
    return OutcomePage(check_project(find_project(), what))


def hint(exercise: str | float, level: int = 1) -> TextPage:
    """A hint for an exercise, level 1 to 3; the last is nearly code."""
    text = hint_text(find_project(), exercise, level)
    return TextPage(notebook_words(text))


def mine(chapter: str | int) -> ModuleType:
    """Your module of a chapter, such as mine("ch06"), always as the file is on disk now; never the reference."""
    project = find_project()
    found = project.find_chapter(chapter)
    path = project.mine(found)
    if not path.exists():
        raise CheckError(f"{project.shown(path)} is not there: `course reset {found.number}` brings it back.")
    return load_module(path)
