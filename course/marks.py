"""The marks in what the workspace's tools return: how each is written and, beside it, how it is read back.

A tool result is a page, never more. Whoever reads it has to see that there is more and how to ask for it:

    read_file    text … [page ends at character 2,950 of 81,204: read_file(path, offset=2950) for more]
    list_files   412 text files under docs, docs/a.md, … [40 of 412 files shown: list_files(path, offset=40) for more]
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_FOLDER_BYTES = 40
# Bytes that head and mark of a listing may take, whatever folder and numbers below ten million they name.
LISTING_FRAME_BYTES = 192

_PAGE_MARK = re.compile(r"\n?\[page ends at character [\d,]+ of [\d,]+: read_file\(path, offset=\d+\) for more\]\s*\Z")
_LIST_HEAD = re.compile(r"([\d,]+) text files? under ")
_LIST_MARK = re.compile(r"\[[\d,]+ of ([\d,]+) files shown: list_files\(path, offset=(\d+)\) for more\]")
# Where somebody cut the middle out of a result: "[... 1,204 characters left out ...]", in whatever words.
_CUT = re.compile(r"\[[^\[\]]*\d\s+(?:characters|tokens|bytes|lines)\b[^\[\]]*\]")


@dataclass(frozen=True)
class Listing:
    """One page of a listing: paths, the number of files on all pages, and the offset of the next page or None."""

    files: tuple[str, ...]
    total: int
    next_offset: int | None


def page_mark(end: int, total: int) -> str:
    """The line behind a page that ends before the text does; both numbers in characters."""
    return f"\n[page ends at character {end:,} of {total:,}: read_file(path, offset={end}) for more]"


def without_page_mark(page: str) -> str:
    """The text of a page alone."""
    return _PAGE_MARK.sub("", page)


def list_head(total: int, folder: str, skipped: int = 0) -> str:
    """The first line of a listing: how many text files there are, where, and how many other files were left out."""
    clipped = folder.encode()[: MAX_FOLDER_BYTES - 3].decode(errors="ignore") + "…"
    shown = folder if len(folder.encode()) <= MAX_FOLDER_BYTES else clipped
    others = f" ({skipped:,} other{'s' * (skipped != 1)} left out)" if skipped else ""
    return f"{total:,} text file{'s' * (total != 1)} under {shown}{others}"


def list_mark(shown: int, total: int) -> str:
    """The last line of a listing that has more pages; `shown` counts the files of this page and of those before."""
    return f"[{shown:,} of {total:,} files shown: list_files(path, offset={shown}) for more]"


def parse_listing(text: str, offset: int = 0) -> Listing:
    """The page that `list_files` returned for `offset`.

    A page whose middle was cut out ends before the cut, since the path beside it may be half a path; it goes on there.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    head = _LIST_HEAD.match(lines[0]) if lines else None
    mark = _LIST_MARK.fullmatch(lines[-1].strip()) if lines else None
    files = lines[bool(head) : len(lines) - bool(mark)]
    number = head or mark
    total = int(number[1].replace(",", "")) if number else offset + len(files)
    if whole := _before_cut(files):
        return Listing(tuple(whole), total, offset + len(whole))
    return Listing(tuple(files), total, int(mark[2]) if mark else None)


def _before_cut(lines: list[str]) -> list[str]:
    """The whole lines before the place where something was cut out; none when nothing was."""
    for index, line in enumerate(lines):
        if _CUT.search(line):
            alone = not _CUT.sub("", line).strip()
            return lines[: max(0, index - alone)]
    return []
