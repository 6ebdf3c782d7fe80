"""The task state that a system prompt shows, and the three kinds of TODO items that the worker writes.

archive/a.md                    a file to read and to note
list files from offset 40       the next page of the listing, behind the files of this one
files 1 to 40 of 112: noted     the pages before this one, always completed
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_TODO = re.compile(r"\[([ x~])\] \((\S+?)\) (.*)")
_STATUS = {" ": "pending", "~": "in_progress", "x": "completed"}
_LIST = re.compile(r"list files from offset (\d+)")
_PAGES = re.compile(r"files 1 to (\d+) of \d+: noted")


@dataclass(frozen=True)
class Todo:
    """One item of the TODO list."""

    id: str
    subject: str
    status: str

    @property
    def offset(self) -> int | None:
        """The offset of the page to list, None for an item of another kind."""
        match = _LIST.fullmatch(self.subject)
        return int(match[1]) if match else None

    @property
    def pages(self) -> int | None:
        """The number of files on earlier pages, None for an item of another kind."""
        match = _PAGES.fullmatch(self.subject)
        return int(match[1]) if match else None

    @property
    def is_file(self) -> bool:
        """Whether the item stands for a file."""
        return self.offset is None and self.pages is None and _looks_like_path(self.subject)

    @property
    def path(self) -> str:
        """The path that an item of a file stands for."""
        return self.subject.removeprefix("./")


@dataclass(frozen=True)
class TaskState:
    """Goal and TODO list as the system prompt shows them; empty when it shows none."""

    goal: str = ""
    todos: tuple[Todo, ...] = ()


def task_state_in(system: str) -> TaskState:
    """The task state that a system prompt shows last."""
    lines = system.split("\n")
    starts = [index for index, line in enumerate(lines) if line.startswith("# Task State")]
    if not starts:
        return TaskState()
    goal, todos, heading = [], [], ""
    for line in lines[starts[-1] + 1 :]:
        if line.startswith("#"):
            heading = line.lstrip("# ").strip().lower()
        elif heading == "todo" and (match := _TODO.fullmatch(line)):
            todos.append(Todo(match[2], match[3], _STATUS[match[1]]))
        elif heading == "goal":
            goal.append(line)
    return TaskState("\n".join(goal).strip(), tuple(todos))


def file_subject(path: str) -> str:
    """The words of a file's item: its path, with "./" before one that would not be taken for a path."""
    return path if Todo("", path, "").is_file else f"./{path}"


def list_subject(offset: int) -> str:
    """The words of the item for the next page."""
    return f"list files from offset {offset}"


def pages_subject(files: int, total: int) -> str:
    """The words of the item for the pages before."""
    return f"files 1 to {files} of {total}: noted"


def _looks_like_path(subject: str) -> bool:
    """Whether words can be a path: a folder in it, an ending, or one word."""
    return "/" in subject or " " not in subject or re.search(r"\.\w+$", subject) is not None
