"""The timeline of a run: one recorded object from which every view is made, as versioned JSON.

An event has a number, a time on a fixed clock, a kind, and its data. Messages stand once, by id; events name them. Two
runs of the same thing give the same bytes.

    kind         data
    run          scenario, model, context_length, trigger, threshold, target_ratio, without, summary_role, seed,
                 where, files
    session      session, parent                        a session or, after a compression, its child
    user         message                                a message of the user
    request      call, messages, parts                  parts: estimated tokens of the window by part
    response     call, message, prompt_tokens, cached_tokens, completion_tokens, tools
    tool_start   tool, arguments
    tool_end     tool, message, characters
    compression  outcome, reason, before, after, pruned, summarised, summary, clipped, repairs, messages
    summary      prompt_tokens, completion_tokens, status   a call of the model that writes summaries
    refused      status, code, text, message            a request that the provider refused; message: the one at fault
    task_state   goal, todos
    frequent     count                                  compression was due before each of the last `count` requests
    stuck        before, after, text
    end          stop_reason, text, score, reads
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

VERSION = 1
KINDS = [
    "run",
    "session",
    "user",
    "request",
    "response",
    "tool_start",
    "tool_end",
    "compression",
    "summary",
    "refused",
    "task_state",
    "frequent",
    "stuck",
    "end",
]


class TimelineError(ValueError):
    """A file that is no timeline of this version; the text says what was found and what to do."""


@dataclass(frozen=True)
class Event:
    """One event: its number from 1, its time in steps of the fixed clock, its kind and its data."""

    number: int
    at: int
    kind: str
    data: dict[str, Any]


@dataclass
class Timeline:
    """The events of a run in their order, and the messages that they name."""

    events: list[Event] = field(default_factory=list)
    messages: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, kind: str, **data: Any) -> Event:
        """The new event, appended."""
        if kind not in KINDS:
            raise TimelineError(f"there is no kind of event {kind!r}; the kinds are {', '.join(KINDS)}")
        number = len(self.events) + 1
        self.events.append(Event(number, number, kind, data))
        return self.events[-1]

    def last(self, kind: str) -> dict[str, Any]:
        """The data of the last event of a kind, {} when there is none."""
        return next((event.data for event in reversed(self.events) if event.kind == kind), {})

    def to_json(self) -> str:
        """The timeline as JSON text; lone surrogates and NUL survive as escapes."""
        document = {"version": VERSION, "messages": self.messages, "events": [asdict(event) for event in self.events]}
        return json.dumps(document, ensure_ascii=True, separators=(",", ":")) + "\n"

    def save(self, path: Path) -> None:
        """Write the timeline to a file, whole or not at all."""
        scratch = path.with_name(path.name + ".part")
        scratch.write_text(self.to_json(), encoding="utf-8")
        scratch.replace(path)


def read_timeline(path: Path) -> Timeline:
    """The timeline in a file. TimelineError says in one sentence what is wrong with the file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TimelineError(f"{path} cannot be read: {error.strerror or error}.") from None
    except UnicodeDecodeError:
        raise TimelineError(f"{path} is no timeline: it is no text. Save one with `course demo --save FILE`.") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise TimelineError(
            f"{path} is cut short or damaged: no JSON from {where} on. Save it again with `course demo --save FILE`."
        ) from None
    return _checked(document, path)


def _checked(document: Any, path: Path) -> Timeline:
    """The timeline in a parsed document of this version."""
    if not isinstance(document, dict) or "version" not in document:
        raise TimelineError(f"{path} is no timeline: it has no version. Save one with `course demo --save FILE`.")
    if document["version"] != VERSION:
        raise TimelineError(
            f"{path} is a timeline of version {document['version']!r}, and this course reads version {VERSION}. "
            "Run the demo again with --save."
        )
    events, messages = document.get("events"), document.get("messages")
    if not isinstance(events, list) or not isinstance(messages, dict):
        raise TimelineError(f"{path} has no list of events and no messages by id. Save it again.")
    timeline = Timeline(messages=messages)
    for number, event in enumerate(events, start=1):
        timeline.events.append(_event(event, number, path))
    if not timeline.events:
        raise TimelineError(f"{path} is an empty run: it has no events.")
    return timeline


def _event(event: Any, number: int, path: Path) -> Event:
    """One event of a document."""
    fits = isinstance(event, Mapping) and event.get("kind") in KINDS and isinstance(event.get("data"), dict)
    if not fits:
        raise TimelineError(f"{path}: event {number} has no known kind and data: {str(event)[:80]}")
    return Event(number, int(event.get("at", number)), event["kind"], event["data"])
