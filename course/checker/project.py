"""The project on disk: where the chapters, the reference, the tests and the hints are."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from course.stubs import Hole, find_holes, make_stub, read_text


class CheckError(RuntimeError):
    """What was asked for cannot be done; the text says what was found and what to do."""


@dataclass(frozen=True)
class Chapter:
    """One chapter with exercises."""

    number: int
    stem: str
    holes: tuple[Hole, ...]


@dataclass(frozen=True)
class Project:
    """The folders of a clone; `chapters` is where the learner writes."""

    root: Path
    chapters: Path

    def chapter_list(self) -> list[Chapter]:
        """The chapters that have exercises, in order."""
        found = []
        for path in sorted((self.root / "reference").glob("ch[0-9][0-9]_*.py")):
            if holes := find_holes(read_text(path), path.name):
                found.append(Chapter(int(path.stem[2:4]), path.stem, holes))
        return found

    def mine(self, chapter: Chapter) -> Path:
        """The learner's file."""
        return self.chapters / f"{chapter.stem}.py"

    def reference(self, chapter: Chapter) -> Path:
        """The solved file."""
        return self.root / "reference" / f"{chapter.stem}.py"

    def stub(self, chapter: Chapter) -> str:
        """The text that the learner's file had at first."""
        return make_stub(read_text(self.reference(chapter)), f"{chapter.stem}.py")

    def tests(self, chapter: Chapter) -> Path:
        """The file with the marked tests: the chapter's own, or one in `exercises/` where that one is slow to load."""
        name = f"test_{chapter.stem}.py"
        light = self.root / "tests" / "exercises" / name
        return light if light.exists() else self.root / "tests" / name

    def shown(self, path: Path) -> str:
        """A path as the learner reads it: relative to the project, with forward slashes."""
        path = path.resolve()
        base = self.root if path.is_relative_to(self.root) else self.chapters.parent.resolve()
        return path.relative_to(base).as_posix() if path.is_relative_to(base) else path.name

    def find_chapter(self, what: str | int) -> Chapter:
        """The chapter that "7", 7, "ch07" or "ch07_boundaries" names; CheckError when there is none."""
        chapters = self.chapter_list()
        match = re.match(r"(?:ch)?0*(\d+)(?:_\w+)?(?:\.py)?$", str(what).strip())
        for chapter in chapters:
            if match and chapter.number == int(match[1]):
                return chapter
        numbers = ", ".join(str(chapter.number) for chapter in chapters)
        raise CheckError(f"There is no chapter {what} with exercises; there are: {numbers}.")

    def find_exercise(self, number: str | float) -> tuple[Chapter, Hole]:
        """The exercise that "7.2" names, with its chapter; CheckError when there is none."""
        text = str(number).strip()
        if "." not in text:
            raise CheckError(f"{text} names a chapter; an exercise is named like {text}.1.")
        chapter = self.find_chapter(text.partition(".")[0])
        for hole in chapter.holes:
            if hole.number == f"{chapter.number}.{text.partition('.')[2]}":
                return chapter, hole
        numbers = ", ".join(hole.number for hole in chapter.holes)
        raise CheckError(f"There is no exercise {text}; chapter {chapter.number} has {numbers}.")


def find_project(chapters: Path | None = None) -> Project:
    """The clone that this package stands in; CheckError when it is installed without the rest of the course.

    COURSE_CHAPTERS names another folder for the learner's files, so that notebooks can be run on stubs and on solutions
    whatever stands in chapters/.
    """
    root = Path(__file__).resolve().parents[2]
    if not (root / "tests" / "conftest.py").exists():
        raise CheckError(
            "The course is installed without its exercises. Clone the project and run `pip install -e .` in it."
        )
    elsewhere = os.environ.get("COURSE_CHAPTERS")
    return Project(root, (chapters or Path(elsewhere or root / "chapters")).resolve())
