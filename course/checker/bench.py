"""The learner's module on the bench: loaded fresh, its exercises watched."""

from __future__ import annotations

from types import ModuleType

from course.checker.modules import load_module
from course.checker.project import CheckError, Project
from course.checker.recording import Recorder


def module_under_test(project: Project, stem: str) -> tuple[ModuleType, Recorder]:
    """(the learner's module as it is on disk, the recorder of its exercises' calls)."""
    chapter = next((chapter for chapter in project.chapter_list() if chapter.stem == stem), None)
    if chapter is None:
        raise CheckError(f"{stem} has no exercises, so there is no file of yours to test.")
    path = project.mine(chapter)
    if not path.exists():
        raise CheckError(f"{project.shown(path)} is not there: `course reset {chapter.number}` brings it back.")
    module, recorder = load_module(path), Recorder()
    recorder.watch(module, [hole.owner for hole in chapter.holes])
    return module, recorder
