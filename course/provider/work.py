"""A survey as far as one request shows it, and the calls that take it on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from course.marks import Listing, parse_listing
from course.noting import note_for, report_line, unreadable
from course.provider.asking import survey_in
from course.provider.reading import Call, Request, path_in
from course.provider.todo import Todo

Step = tuple[str, dict[str, Any]]

# What a tool may call these parameters; the first name is the workspace's.
PATH = ("path", "file", "file_path", "filename", "folder", "directory", "dir")
OFFSET = ("offset", "start", "skip", "from")
LINE = ("line", "text", "content", "entry")


@dataclass(frozen=True)
class Work:
    """A survey, as far as the request shows it."""

    request: Request
    folder: str

    @cached_property
    def readings(self) -> dict[str, str]:
        """The text to note for each file of the folder whose reading, or failure to be read, is to be seen."""
        notes = {}
        for call in self.request.calls:
            path = path_in(call.arguments, *PATH)
            first_page = offset_of(call) == 0
            listed = self.contains(path) or any(path in page.files for page in self.listings.values())
            if call.name == "read_file" and call.result is not None and first_page and listed:
                notes[path] = note_for(call.result) if call.error is None else unreadable(call.error)
        return notes

    @cached_property
    def listings(self) -> dict[int, Listing]:
        """The visible pages of the folder's listing by offset, the newest last."""
        pages: dict[int, Listing] = {}
        for call in self.list_calls:
            if call.result is not None and call.error is None:
                pages.pop(offset_of(call), None)
                pages[offset_of(call)] = parse_listing(call.result, offset_of(call))
        return pages

    @cached_property
    def list_calls(self) -> list[Call]:
        """The calls that listed this folder."""
        calls = (call for call in self.request.calls if call.name == "list_files")
        return [call for call in calls if path_in(call.arguments, *PATH) == self.folder]

    @cached_property
    def todos(self) -> list[Todo]:
        """The TODO list that the system prompt shows, when it is one of this survey."""
        state = self.request.state
        goal = survey_in(state.goal)
        todos = [todo for todo in state.todos if self.is_own(todo)]
        return todos if goal is None or goal.folder == self.folder else []

    @property
    def uses_todos(self) -> bool:
        """Whether the task tools are offered that keep a TODO list."""
        return {"todo_write", "todo_update"} <= self.request.tools.keys()

    @property
    def was_written(self) -> bool:
        """Whether a TODO list was written since the newest listing.

        Where it is not shown nevertheless, it would be written again for ever: then rule 7 has to do.
        """
        names = [call.name for call in self.request.calls]
        return "todo_write" in names[max((i for i, name in enumerate(names) if name == "list_files"), default=0) :]

    def contains(self, path: str) -> bool:
        """Whether a file lies in the folder of this survey."""
        return self.folder == "." or path.startswith(self.folder.rstrip("/") + "/")

    def is_own(self, todo: Todo) -> bool:
        """Whether a TODO item is one that this worker writes: a file of the folder, or a page of its listing."""
        return todo.offset is not None or todo.pages is not None or (todo.is_file and self.contains(todo.path))

    def list_step(self, offset: int) -> Step:
        """The call that lists one page."""
        arguments: dict[str, Any] = {self.request.parameter("list_files", *PATH): self.folder}
        if offset:
            arguments[self.request.parameter("list_files", *OFFSET)] = offset
        return "list_files", arguments

    def read_step(self, path: str) -> Step:
        """The call that reads a file's first page."""
        return "read_file", {self.request.parameter("read_file", *PATH): path}

    def note_steps(self, paths: Iterable[str]) -> list[Step]:
        """The calls that note those of `paths` whose text is to be seen."""
        name = self.request.parameter("append_report", *LINE)
        lines = (report_line(path, self.readings[path]) for path in paths if path in self.readings)
        return [("append_report", {name: line}) for line in lines]

    def final_text(self) -> str:
        """What to say at the end: how many files are noted, by the TODO list or else by the record."""
        todos = self.todos if self.uses_todos else []
        if not todos and any(page.total == 0 for page in self.listings.values()):
            return f"No text files were found under {self.folder}, so there is nothing to note."
        record = self.request.record
        pages = max((todo.pages or 0 for todo in todos), default=0)
        count = pages + sum(todo.is_file for todo in todos) if todos else record.count()
        least = "at least " if record.earlier and not todos else ""
        files = "text file is" if count == 1 else "text files are"
        return f"The survey of {self.folder} is finished: {least}{count} {files} noted in the report."


def offset_of(call: Call) -> int:
    """The offset that a call asked for."""
    value = next((call.arguments[name] for name in OFFSET if name in call.arguments), 0)
    try:
        return int(value or 0)
    except (TypeError, ValueError, OverflowError):
        return 0
