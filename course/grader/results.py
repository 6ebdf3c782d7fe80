"""Results: a row for each exercise of each submission, as CSV and as JSON, written whole after each submission."""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from course.checker.text import detail_lines
from course.checker.verdict import DONE, NOT_STARTED, WRONG, Failure, Verdict

MISSING, REFUSED, TAMPERED, NOT_JUDGED = "missing", "refused", "tampered", "not judged"
STATUSES = (DONE, WRONG, NOT_STARTED, MISSING, REFUSED, TAMPERED, NOT_JUDGED)
COLUMNS = ("submission", "exercise", "status", "points", "passed", "tests", "file", "line", "sentence", "digest")
MAX_SENTENCE = 600  # characters
MAX_LINE = 300
VERSION = 1
_ODD = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")


class ResultsError(ValueError):
    """A result file that cannot be gone on with; the text says why."""


@dataclass(frozen=True)
class Row:
    """What came out for one exercise; `sentence` is what the learner would have read, `shown` the whole screen."""

    exercise: str
    status: str
    file: str
    line: int
    sentence: str
    passed: int = 0
    tests: int = 0
    shown: str = ""


@dataclass(frozen=True)
class Result:
    """The rows of one submission; `digest` names what was handed in and the course that judged it."""

    submission: str
    digest: str
    rows: tuple[Row, ...]

    @property
    def done(self) -> int:
        """How many exercises are done."""
        return sum(row.status == DONE for row in self.rows)


def row_of(verdict: Verdict, tests: int, status: str = "", sentence: str = "") -> Row:
    """The row of a verdict, or of another status with its sentence."""
    shown = "" if sentence or verdict.status != WRONG else clean("\n".join(detail_lines(verdict)), keep_lines=True)
    sentence = sentence or sentence_of(verdict)
    status = status or verdict.status
    line = 0 if status == DONE else verdict.line
    return Row(
        verdict.number,
        status,
        verdict.path,
        line,
        clean(sentence)[:MAX_SENTENCE],
        min(verdict.passed, tests),
        tests,
        shown,
    )


def sentence_of(verdict: Verdict) -> str:
    """A verdict in one sentence or two."""
    if verdict.status == DONE:
        return "Every test passes."
    failure = verdict.failure or Failure()
    called = f"{failure.called} gave {failure.got}" + (f", expected {failure.expected}" if failure.expected else "")
    why = failure.why or (f"The rule: {failure.rule}" if failure.rule else "")
    looks = f"This looks like: {verdict.misconception}" if verdict.misconception else ""
    parts = [called if failure.called and failure.got else "", why, looks]
    return " ".join(part if part[-1] in ".:!?" else f"{part}." for part in parts if part) or "It is wrong."


def clean(text: str, keep_lines: bool = False) -> str:
    """`text` without control characters and direction marks; on one line unless lines are kept."""
    if keep_lines:
        return "\n".join(_ODD.sub(" ", line)[:MAX_LINE] for line in text.splitlines())
    return " ".join(_ODD.sub(" ", text).split())


def read_results(path: Path) -> dict[str, Result]:
    """{submission: its result} of a CSV that was written before; {} where none is; ResultsError for another file."""
    if not path.exists():
        return {}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            if tuple(reader.fieldnames or ()) != COLUMNS:
                raise ResultsError(f"{path.name} is not a result of `course grade`: name another file, or delete it.")
            rows = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ResultsError(f"{path.name} cannot be read: {error}. Name another file, or delete it.") from None
    found: dict[str, Result] = {}
    for row in rows:
        known = found.get(name := _bare(row["submission"])) or Result(name, row["digest"], ())
        found[name] = Result(name, row["digest"], (*known.rows, _read_row(row, path)))
    return found


def _read_row(row: Mapping[str, str], path: Path) -> Row:
    """A row of the CSV as it was written."""
    try:
        line, passed, tests = (int(row[name]) for name in ("line", "passed", "tests"))
    except (TypeError, ValueError):
        raise ResultsError(f"{path.name} was changed: a row has no numbers. Delete it to begin anew.") from None
    return Row(row["exercise"], row["status"], row["file"], line, _bare(row["sentence"]), passed, tests)


def known_rows(results: Mapping[str, Result], digest: str, exercises: Sequence[str]) -> tuple[Row, ...]:
    """The rows of a submission with the same content that was judged before, whole; () when there is none."""
    for result in results.values():
        whole = [row.exercise for row in result.rows if row.status != NOT_JUDGED] == list(exercises)
        if result.digest == digest and whole:
            return result.rows
    return ()


def write_csv(path: Path, results: Mapping[str, Result]) -> None:
    """Write the results, submissions by name."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for result in (results[name] for name in sorted(results)):
        for row in result.rows:
            writer.writerow(
                [_cell(result.submission), row.exercise, row.status, int(row.status == DONE), row.passed, row.tests,
                 row.file, row.line, _cell(row.sentence), result.digest]
            )  # fmt: skip
    write_whole(path, out.getvalue())


def write_json(path: Path, results: Mapping[str, Result]) -> None:
    """Write the results with what the learner's screen would have shown."""
    listed: list[dict[str, Any]] = [
        {"submission": r.submission, "digest": r.digest, "done": r.done, "exercises": [asdict(row) for row in r.rows]}
        for r in (results[name] for name in sorted(results))
    ]
    write_whole(path, json.dumps({"version": VERSION, "submissions": listed}, indent=1, ensure_ascii=False) + "\n")


def read_screens(path: Path | None) -> dict[tuple[str, str], str]:
    """{(digest, exercise): the screen} of a JSON that was written before; {} where there is none that can be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8")) if path and path.exists() else {}
        return {
            (s["digest"], row["exercise"]): str(row["shown"])
            for s in found.get("submissions", ())
            for row in s["exercises"]
        }
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is either the old one or the new one, whenever the machine stops."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    fresh.write_bytes(text.encode("utf-8", "replace"))
    os.replace(fresh, path)


def _cell(text: str) -> str:
    """A text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def _bare(text: str) -> str:
    """The text of a cell as it was before."""
    return text[1:] if text.startswith(("'=", "'+", "'-", "'@")) else text
