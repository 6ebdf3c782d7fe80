"""What `course show`, `course diff` and `course reset` do with the files."""

from __future__ import annotations

import ast
import difflib
import textwrap
from datetime import datetime
from pathlib import Path

from course.checker.answers import definitions
from course.checker.project import Chapter, CheckError, Project
from course.stubs import digest, read_text, recorded, write_record

KEPT = "kept"  # the folder for copies of what a learner wrote


def show_text(project: Project, number: str | float, solution: bool = False) -> str:
    """The beginning of an exercise's function, with its contract; with `solution` the whole of it, solved."""
    chapter, hole = project.find_exercise(number)
    text = read_text(project.reference(chapter)) if solution else project.stub(chapter)
    node = definitions(ast.parse(text))[hole.owner]
    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
    shown = [line for line in lines if " EXERCISE " not in line]
    place = project.shown(project.mine(chapter))
    return f"{hole.number}  {hole.task}\n{place}\n\n{textwrap.dedent(chr(10).join(shown))}\n"


def diff_text(project: Project, chapter: Chapter) -> str:
    """The lines in which the learner's file differs from the solved one; "" when it does not."""
    path = project.mine(chapter)
    if not path.exists():
        raise CheckError(f"{project.shown(path)} is not there: `course reset {chapter.number}` brings it back.")
    solved = [line for line in read_text(project.reference(chapter)).splitlines() if " EXERCISE " not in line]
    names = project.shown(path), f"reference/{path.name}"
    return "\n".join(difflib.unified_diff(read_text(path).splitlines(), solved, *names, lineterm=""))


def reset(project: Project, chapter: Chapter, now: datetime) -> tuple[Path, Path | None]:
    """(the chapter's file as a stub again, the dated copy of what was in it); no copy when nothing was written."""
    path, stub = project.mine(chapter), project.stub(chapter)
    copy = keep_copy(path, now) if path.exists() and digest(read_text(path)) != digest(stub) else None
    path.write_bytes(stub.encode())
    write_record(path.parent, recorded(path.parent) | {path.name: digest(stub)})
    return path, copy


def keep_copy(path: Path, now: datetime) -> Path:
    """A copy of the file under a name with the date; no earlier copy is overwritten."""
    folder = path.parent / KEPT
    folder.mkdir(exist_ok=True)
    base, number = f"{path.stem}-{now:%Y-%m-%d-%H%M%S}", 1
    copy = folder / f"{base}.py"
    while copy.exists():
        number += 1
        copy = folder / f"{base}-{number}.py"
    copy.write_bytes(path.read_bytes())
    return copy
