"""Pages of a text file: a bounded piece of it, cut between characters, with a mark that says how to go on.

A file is read as a stream. However large it is, no more than one block of it is in memory.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from course.marks import page_mark

PAGE_BYTES = 3_072
MIN_PAGE_BYTES = 256
PROBE_BYTES = 8_192
BLOCK_BYTES = 1 << 20


def is_text(file: Path) -> bool:
    """Whether the first 8 kB of a file hold no NUL and decode as UTF-8; OSError when it cannot be opened.

    A character that the end of those 8 kB cuts in two does not count against the file; one that the end of the file
    cuts does.
    """
    with file.open("rb") as stream:
        probe = stream.read(PROBE_BYTES)
        ends = not stream.read(1)
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(probe, final=ends)
    except UnicodeDecodeError:
        return False
    return "\0" not in text


def text_page(file: Path, offset: int = 0, page_bytes: int = PAGE_BYTES) -> str:
    """The page of a file that begins at character `offset`, of at most `page_bytes` UTF-8 bytes, its mark included.

    NUL and bytes that are no UTF-8 become U+FFFD. Where there is a choice a page ends with a line, and never inside a
    character. The last page has no mark, so the pages without their marks are the file. Raises OSError, and ValueError
    when there is nothing behind `offset` or a page is smaller than 256 bytes.
    """
    if page_bytes < MIN_PAGE_BYTES:
        raise ValueError(f"a page of {page_bytes} bytes is too small; at least {MIN_PAGE_BYTES}")
    total, piece = _piece(file, offset, page_bytes + 1)
    if offset and offset >= total:
        raise ValueError(f"the file ends at character {total:,}, nothing is behind offset {offset:,}")
    if offset + len(piece) == total and len(piece.encode()) <= page_bytes:
        return piece
    shown = _cut(piece, page_bytes - len(page_mark(total, total).encode()))
    return shown + page_mark(offset + len(shown), total)


def _piece(file: Path, offset: int, size: int) -> tuple[int, str]:
    """The number of characters in a file, and up to `size` of them from `offset`."""
    total, kept, wanted = 0, [], size
    for block in _blocks(file):
        part = block[max(0, offset - total) :][:wanted] if total + len(block) > offset else ""
        kept.append(part)
        wanted -= len(part)
        total += len(block)
    return total, "".join(kept)


def _blocks(file: Path) -> Iterator[str]:
    """The decoded text of a file, block after block."""
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    with file.open("rb") as stream:
        while block := stream.read(BLOCK_BYTES):
            yield decoder.decode(block).replace("\0", "\ufffd")
        yield decoder.decode(b"", final=True)


def _cut(text: str, size: int) -> str:
    """The beginning of `text` in at most `size` bytes; up to a line end when one stands in its last quarter."""
    shown = text.encode()[:size].decode(errors="ignore")
    line_end = shown.rfind("\n") + 1
    return shown[:line_end] if line_end > len(shown) * 3 // 4 else shown
