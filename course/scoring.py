"""The score of a survey report, checked against the files themselves."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from course.noting import UNREADABLE, names_of, note_for
from course.pages import PAGE_BYTES, text_page
from course.workspace import Workspace


@dataclass(frozen=True)
class Score:
    """Counts of files and lines, with the paths (of `unknown`: the lines) behind each count.

    files = right + wrong + missing. A file is right when every line about it says what the file says; one with several
    lines is also counted in `doubled`. `unknown` are lines about no file of the survey; headings (# …) do not count.
    """

    files: int
    right: int
    wrong: int
    missing: int
    doubled: int
    unknown: int
    right_paths: list[str] = field(default_factory=list)
    wrong_paths: list[str] = field(default_factory=list)
    missing_paths: list[str] = field(default_factory=list)
    doubled_paths: list[str] = field(default_factory=list)
    unknown_lines: list[str] = field(default_factory=list)


def expected_line(root: Path, path: str, page_bytes: int = PAGE_BYTES) -> str:
    """The text that the report should have for a file, by the rule of `course.noting` on its first page.

    "could not be read" for a file that cannot: the reason behind it is the tool's, so only this much is expected.
    """
    try:
        return note_for(text_page(Path(root) / path, 0, page_bytes))
    except OSError:
        return UNREADABLE


def score(report: Path, workspace: Workspace) -> Score:
    """The score of a report on all text files of a workspace; a report that does not exist has no lines."""
    files = workspace.text_files()
    notes, unknown = _notes(report, set(files))
    right: list[str] = []
    wrong: list[str] = []
    for path in (path for path in files if path in notes):
        expected = expected_line(workspace.root, path, workspace.page_bytes)
        (right if all(_agrees(note, expected) for note in notes[path]) else wrong).append(path)
    missing = [path for path in files if path not in notes]
    doubled = [path for path in files if len(notes.get(path, ())) > 1]
    return Score(
        files=len(files),
        right=len(right),
        wrong=len(wrong),
        missing=len(missing),
        doubled=len(doubled),
        unknown=len(unknown),
        right_paths=right,
        wrong_paths=wrong,
        missing_paths=missing,
        doubled_paths=doubled,
        unknown_lines=unknown,
    )


def _notes(report: Path, files: set[str]) -> tuple[dict[str, list[str]], list[str]]:
    """The texts of a report by path, and its lines about no file."""
    text = report.read_text(encoding="utf-8", errors="replace") if report.is_file() else ""
    notes: dict[str, list[str]] = {}
    unknown = []
    for line in (line for line in text.split("\n") if line.strip() and not line.startswith("#")):
        path = next((name for name in names_of(line) if line.startswith("- ") and name in files), None)
        if path is None:
            unknown.append(line)
        else:
            notes.setdefault(path, []).append(line[len(f"- {path}:") :].strip())
    return notes, unknown


def _agrees(note: str, expected: str) -> bool:
    """Whether a line's text is the expected one; behind "could not be read" any reason may stand."""
    return note == expected or (expected == UNREADABLE and note.startswith(UNREADABLE))
