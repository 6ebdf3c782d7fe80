"""The learner's own agent: built from the files in chapters/ alone, once every exercise in them is done."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from course.checker.check import check_project
from course.checker.project import CheckError, find_project
from course.checker.verdict import DONE


class UnsolvedError(RuntimeError):
    """Exercises are left; the text lists them."""


def own_chapters(console: Console) -> Path:
    """The folder with the learner's modules, each printed with its path; UnsolvedError lists what is not done yet."""
    try:
        project = find_project()
    except CheckError as error:
        raise UnsolvedError(str(error)) from None
    left = [verdict for verdict in check_project(project).verdicts if verdict.status != DONE]
    if left:
        lines = [f"  {verdict.number:<6} {verdict.status:<12} {verdict.path}  {verdict.owner}" for verdict in left]
        head = f"Your agent needs every exercise; {len(left)} are not done yet:"
        raise UnsolvedError("\n".join([head, *lines, "`course status` lists them, `course hint N.M` helps."]))
    console.print("Your agent, from your files:")
    for chapter in project.chapter_list():
        console.print(f"  {project.shown(project.mine(chapter))}", markup=False)
    return project.chapters
