"""What a survey's report says of a file: one rule, used by the worker that writes and by the scorer that checks.

page of the file                          the report's line
"# Depot\\n…\\nFact: 417 barrels.\\n…"       - docs/depot.md: 417 barrels.
"#!/bin/sh\\necho hello\\n"                 - run.sh: bin/sh
""                                        - empty.txt: (empty file)
"""

from __future__ import annotations

import re

from course.marks import without_page_mark

FACT = "Fact:"
EMPTY_FILE = "(empty file)"
NO_WORDS = "(no words)"
UNREADABLE = "could not be read"
MAX_NOTE = 100

_LEADING_MARKS = re.compile(r"[\s\ufeff#/*;%!<>=~|\"'`\-]+")


def note_for(page: str) -> str:
    """The text to note for a file whose first page is `page`, at most 100 characters.

    What stands behind the first line beginning with `Fact:`, else the first line with a letter or a digit, without the
    comment or markup marks before it. White space is folded. A file without such a line is empty or has no words.
    """
    text = without_page_mark(page)
    if not text or text == EMPTY_FILE:
        return EMPTY_FILE
    lines = text.splitlines()
    facts = (line.removeprefix(FACT) for line in lines if line.startswith(FACT))
    words = (line for line in lines if _has_word(line))
    fact = next((fact for fact in facts if _has_word(fact)), None)
    return _fold(fact) if fact is not None else _fold(_unmarked(next(words, NO_WORDS)))


def report_line(path: str, note: str) -> str:
    """The line of the report for a file."""
    return f"- {path}: {note}"


def unreadable(reason: str) -> str:
    """The text to note for a file that could not be read, with the reason."""
    return f"{UNREADABLE} ({_fold(reason)})"


def names_of(line: str) -> list[str]:
    """Every path that a report line may be about, longest first: a path may hold ": " itself."""
    body = line.removeprefix("- ")
    ends = [match.start() for match in re.finditer(r":(?: |$)", body)]
    return [body[:end] for end in reversed(ends)]


def _has_word(line: str) -> bool:
    """Whether a line holds a letter or a digit of any script."""
    return any(map(str.isalnum, line))


def _unmarked(line: str) -> str:
    """The line without leading white space and comment or markup marks."""
    return _LEADING_MARKS.sub("", line, count=1) if _LEADING_MARKS.match(line) else line


def _fold(text: str) -> str:
    """The text with white space folded, cut to 100 characters."""
    return " ".join(text.split())[:MAX_NOTE].rstrip()
