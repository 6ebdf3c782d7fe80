"""The workspace of a survey: one folder that may be read, one report that may be written, and the tools for both."""

from __future__ import annotations

import os
import re
import stat
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from course.marks import LISTING_FRAME_BYTES, list_head, list_mark
from course.noting import EMPTY_FILE
from course.pages import MIN_PAGE_BYTES, PAGE_BYTES, is_text, text_page
from course.paths import ODD_CHARACTERS, ToolError, is_under, is_unlisted, plain, quote, resolve_inside

FILES_PER_PAGE = 40
MAX_PATH = 190  # characters; a TODO item has at most 200
NOT_TEXT, CANNOT_READ = "not text", "cannot be read"
ODD_NAME, LONG_NAME = "name cannot be shown", "name is too long"

_LINE_BREAKS = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(eq=False)
class Workspace:
    """A folder to survey and the report to write, behind three tools: list_files, read_file, append_report.

    Every path is relative to `root` and is refused when it leaves it: absolute, with "..", or through a symbolic link.
    Hidden folders (a name with a leading dot, such as .git or .venv), node_modules and __pycache__ are no part of the
    workspace: not listed, not read. Neither are the report itself and linked folders. The folder is looked through
    once, at the first listing, so that the offsets of later pages stay true.

    No result is longer than `page_bytes` UTF-8 bytes. A token is at least one byte, so this bounds its tokens in every
    script. A listing shows at most 40 files and has at most `listing_bytes`, where that is given, since a TODO list of
    one page has to fit in a system prompt.
    `reads` counts by path how often the first page of a file was read.
    """

    root: Path
    report: Path
    page_bytes: int = PAGE_BYTES
    listing_bytes: int | None = None
    reads: Counter[str] = field(default_factory=Counter)
    # A message's calls may run in threads; a counter and a file want one at a time.
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)
    _lines: int = field(default=0, repr=False)

    def __post_init__(self) -> None:
        if self._listing_bytes < MIN_PAGE_BYTES:
            raise ValueError(f"a page of {self._listing_bytes} bytes is too small; at least {MIN_PAGE_BYTES}")

    @property
    def _listing_bytes(self) -> int:
        return min(self.page_bytes, self.listing_bytes or self.page_bytes)

    # What there is to survey

    def text_files(self) -> list[str]:
        """The paths of all text files, sorted: what a survey of the whole folder has to cover."""
        return list(self._scan[0])

    @property
    def skipped(self) -> list[tuple[str, str]]:
        """(path, reason) of each file or folder that was left out, sorted."""
        return list(self._scan[1])

    def files_under(self, path: str = ".") -> list[str]:
        """The paths of the text files under a folder, sorted; ToolError when it is no folder of the workspace."""
        folder = resolve_inside(self.root, path)
        if os.path.isfile(folder):
            raise ToolError(f"{quote(path)} is a file, not a folder.")
        if not os.path.isdir(folder):
            raise ToolError(f"There is no folder {quote(path)}.")
        return [name for name in self._scan[0] if is_under(name, plain(path))]

    # The tools

    def list_files(self, path: str = ".", offset: int = 0) -> str:
        """One page of the text files under `path`: a head line with their number, then a path a line, then a mark.

        Folders below are included. Raises ToolError for a bad path, or an offset behind the last file.
        """
        files, start = self.files_under(path), _as_offset(offset)
        if start and start >= len(files):
            raise ToolError(f"There are only {len(files)} text files under {quote(path)}; offset {start} is too far.")
        skipped = sum(is_under(name, plain(path)) for name, _ in self._scan[1])
        lines = [list_head(len(files), plain(path), skipped)]
        room = self._listing_bytes - len(lines[0].encode()) - len(list_mark(len(files), len(files))) - 1
        for name in files[start : start + FILES_PER_PAGE]:
            room -= len(name.encode()) + 1
            if room < 0:
                break
            lines.append(name)
        shown = start + len(lines) - 1
        return "\n".join([*lines, *([list_mark(shown, len(files))] if shown < len(files) else [])])

    def read_file(self, path: str, offset: int = 0) -> str:
        """One page of a file from character `offset` on, with a mark when there is more; "(empty file)" for no text.

        Raises ToolError for a bad path or offset, and for what cannot be read.
        """
        file, start = resolve_inside(self.root, path), _as_offset(offset)
        if os.path.isdir(file):  # unlike Path.is_dir it takes a name that is too long
            raise ToolError(f"{quote(path)} is a folder: list_files(path) shows what is in it.")
        try:
            # A pipe or a device would block or never end.
            regular = stat.S_ISREG(file.stat().st_mode)
            page = text_page(file, start, self.page_bytes) if regular else ""
        except FileNotFoundError:
            raise ToolError(f"There is no file {quote(path)}.") from None
        except OSError as error:
            raise ToolError(f"{quote(path)} cannot be read: {error.strerror or error}.") from error
        except ValueError as error:
            raise ToolError(f"{quote(path)}: {error}.") from error
        if not regular:
            raise ToolError(f"{quote(path)} is no regular file.")
        if start == 0:
            with self._lock:
                self.reads[plain(path)] += 1
        return page or EMPTY_FILE

    def append_report(self, line: str) -> str:
        """A short confirmation; `line` now stands at the end of the report, on disk, its line breaks made spaces."""
        text = _UNWRITABLE.sub("\ufffd", _LINE_BREAKS.sub(" ", line)).strip() if isinstance(line, str) else ""
        if not text:
            raise ToolError("append_report needs a line of text.")
        with self._lock:
            try:
                self.report.parent.mkdir(parents=True, exist_ok=True)
                with self.report.open("a", encoding="utf-8", newline="\n") as stream:
                    stream.write(text + "\n")
            except OSError as error:
                raise ToolError(f"The report cannot be written: {error.strerror or error}.") from error
            self._lines += 1
            return f"Line {self._lines} written."

    def schemas(self) -> list[dict[str, Any]]:
        """The three tools as a request's `tools` list names them."""
        path = {"type": "string", "description": "relative to the workspace"}
        offset = {"type": "integer", "description": "where to go on, 0 for the first page"}
        line = {"type": "string", "description": "one line of text"}
        return [
            _schema("list_files", "List the text files under a folder, one page.", {"path": path, "offset": offset}),
            _schema("read_file", "Read one page of a text file.", {"path": path, "offset": offset}, "path"),
            _schema("append_report", "Add one line to the report.", {"line": line}, "line"),
        ]

    # The folder, looked through

    @cached_property
    def _scan(self) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
        """The text files, and what was left out with the reason, both sorted."""
        texts, skipped = [], []
        for name, reason in self._walk():
            if reason:
                skipped.append((name.encode(errors="replace").decode(), reason))
            else:
                texts.append(name)
        return tuple(sorted(texts)), tuple(sorted(skipped))

    def _walk(self) -> Iterator[tuple[str, str]]:
        """Each file with the reason to leave it out, or an empty one; folders that cannot be opened as well."""
        closed: list[str] = []
        report = os.path.realpath(self.report)
        for folder, folders, files in os.walk(self.root, onerror=lambda error: closed.append(str(error.filename))):
            folders[:] = [name for name in folders if not is_unlisted(name)]
            for name in files:
                file = Path(folder, name)
                if os.path.realpath(file) != report:
                    relative = file.relative_to(self.root).as_posix()
                    yield relative, self._reason_to_skip(file, relative)
        for path in closed:
            yield Path(path).relative_to(self.root).as_posix(), CANNOT_READ

    def _reason_to_skip(self, file: Path, relative: str) -> str:
        """Why a file is no part of a survey, or an empty text."""
        # A name has to survive a listing, a TODO line and a report line, which fold white space, and to fit on a page.
        if ODD_CHARACTERS.search(relative) or relative != " ".join(relative.split()):
            return ODD_NAME
        if len(relative) > MAX_PATH or len(relative.encode()) > self._listing_bytes - LISTING_FRAME_BYTES:
            return LONG_NAME
        try:
            if not stat.S_ISREG(resolve_inside(self.root, relative).stat().st_mode):
                return NOT_TEXT
            return "" if is_text(file) else NOT_TEXT
        except (OSError, ToolError):
            return CANNOT_READ


def _schema(name: str, description: str, properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """One tool in OpenAI's form."""
    parameters = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _as_offset(value: Any) -> int:
    """An offset as a number; models also write it as text, or leave it null."""
    try:
        number = int(value or 0)
    except (TypeError, ValueError, OverflowError):
        number = -1
    if number < 0:
        raise ToolError(f"An offset is a whole number from 0 on, not {quote(str(value))}.")
    return number
