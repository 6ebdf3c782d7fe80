"""The end of a judged process: what it sent, and how it went."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from course.grader.channel import Event, make_opener

MAX_OUTPUT = 8 * 1024**2  # bytes of events of one process; a whole course has some 200 KB
MAX_STACK = 64 * 1024


@dataclass(frozen=True)
class Ended:
    """What a process left: its events as far as their seals fit, and how it ended.

    `how` is "whole", "time" (the limit of one test), "over" (the limit of the submission), "exit", "flood" or "forged".
    """

    events: list[Event]
    how: str
    stack: str = ""


def read_events(stream: IO[bytes], key: bytes) -> tuple[list[Event], str]:
    """(events, how it ended) of a stream, read to its end or to the first line that does not fit."""
    unseal, rest, total = make_opener(key), b"", 0
    events: list[Event] = []
    while data := stream.read1(65_536):  # type: ignore[attr-defined]
        total += len(data)
        if total > MAX_OUTPUT:
            return events, "flood"
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            event = unseal(line)
            if event is None:
                return events, "forged"
            if event["event"] == "end":
                return events, "whole"
            events.append(event)
    return events, "exit"


def read_stack(path: Path) -> str:
    """What the timer of a test wrote down; it can be the learner's own text and is used for a line number only."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    except OSError:
        return ""
    with open(descriptor, "rb") as file:
        is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
        return file.read(MAX_STACK).decode("utf-8", "replace") if is_file else ""
