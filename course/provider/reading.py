"""What a chat-completions request shows: tools, calls with their results, the task state, the record, the request.

Everything the worker knows comes through here, so this list is the whole of its knowledge:

    place in the request                        read as
    tools                                       names and parameter names of what may be called
    system prompt, behind "# Task State"        goal and TODO list
    assistant messages: calls                   what was done, each with its result where that is still to be seen
    assistant or system text with a summary     what stands under "Done"
    the latest user message                     the request; "go on" points to the one before

Calls and results are paired by place: a result belongs to the nearest call before it that has its id, since ids repeat.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from course.provider.asking import SUMMARY_MARK, is_go_on, survey_in
from course.provider.record import Record
from course.provider.todo import TaskState, task_state_in

Body = dict[str, Any]

# Results that stand where something else was: cleared by pruning, or put in for a call that was never answered.
NEVER_RAN = "[No result"
GONE = ("[Old tool output cleared", NEVER_RAN)

_ERROR = re.compile(r"error\b:?\s*", re.I)
_ERROR_FRAME = re.compile(r"error\b:?\s*(?:\w+ failed:\s*)?(?:\w+Error:\s*)?", re.I)


@dataclass(frozen=True)
class Call:
    """A call that an assistant message made, and its result: None while there is none, or when it is gone.

    `fresh` says that it belongs to the last group, whose results nobody has answered yet; `ran` is False where a stub
    says that the call did not run to its end.
    """

    name: str
    arguments: dict[str, Any]
    result: str | None
    fresh: bool = False
    ran: bool = True

    @property
    def error(self) -> str | None:
        """The reason when the result is an error: one line that says so and names the tool, else None."""
        text = (self.result or "").strip()
        # A file may begin with "error", too; it does not name the tool that read it.
        if "\n" in text or not _ERROR.match(text) or self.name not in text:
            return None
        return _ERROR_FRAME.sub("", text, count=1) or text


@dataclass(frozen=True)
class Request:
    """A request, read: see the table above."""

    tools: dict[str, list[str]]
    calls: tuple[Call, ...]
    state: TaskState
    record: Record
    asked: str
    messages: int

    def parameter(self, tool: str, *names: str) -> str:
        """The name that a tool's schema gives to one of its parameters: the first of `names` that it has."""
        offered = self.tools.get(tool, [])
        return next((name for name in names if name in offered), names[0])


def read_request(body: Body) -> Request:
    """What a request shows; parts that have no readable form are passed over."""
    messages = [message for message in body.get("messages") or () if isinstance(message, dict)]
    system = "\n".join(text_of(message) for message in messages if message.get("role") == "system")
    calls = tuple(_calls(messages))
    state = task_state_in(system)
    tools = {} if body.get("tool_choice") == "none" else dict(_tools(body.get("tools")))
    return Request(tools, calls, state, _record(messages, calls), _asked(messages, state), len(messages))


def text_of(message: Body) -> str:
    """The text of a message: its content, or the text parts of it."""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") if isinstance(part, dict) else part for part in content]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def arguments_of(call: Body) -> dict[str, Any]:
    """The arguments of a call in a message; empty when they are no JSON object."""
    function = call.get("function")
    try:
        value = json.loads((function or {}).get("arguments") or "{}")
    except (AttributeError, TypeError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def path_in(arguments: dict[str, Any], *names: str) -> str:
    """The path among a call's arguments, as listings show it; "." when there is none."""
    value = next((arguments[name] for name in names if isinstance(arguments.get(name), str)), ".")
    return posixpath.normpath(value or ".")


def _tools(tools: Any) -> Iterator[tuple[str, list[str]]]:
    """(name, parameter names) of each offered tool."""
    for tool in tools if isinstance(tools, list) else ():
        function = tool.get("function") if isinstance(tool, dict) else None
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            schema = function.get("parameters")
            properties = schema.get("properties") if isinstance(schema, dict) else None
            yield function["name"], list(properties) if isinstance(properties, dict) else []


def _calls(messages: list[Body]) -> Iterator[Call]:
    """Every call of the assistant, in order, with its result."""
    made: list[tuple[str, dict[str, Any], int]] = []
    results: dict[int, str] = {}
    nearest: dict[Any, int] = {}
    for place, message in enumerate(messages):
        if message.get("role") == "assistant":
            calls = message.get("tool_calls")
            for call in calls if isinstance(calls, list) else ():
                function = call.get("function") if isinstance(call, dict) else None
                if isinstance(function, dict):
                    nearest[str(call.get("id"))] = len(made)
                    made.append((str(function.get("name")), arguments_of(call), place))
        elif message.get("role") == "tool" and str(message.get("tool_call_id")) in nearest:
            results[nearest[str(message.get("tool_call_id"))]] = text_of(message)
    last = max((place for place, message in enumerate(messages) if message.get("role") != "tool"), default=-1)
    for index, (name, arguments, place) in enumerate(made):
        result = results.get(index)
        gone = result is None or result.startswith(GONE)
        ran = result is None or not result.startswith(NEVER_RAN)
        yield Call(name, arguments, None if gone else result, place == last, ran)


def _record(messages: Iterable[Body], calls: Iterable[Call]) -> Record:
    """What the assistant noted, by its summaries and its visible calls."""
    record = Record()
    for message in messages:
        if message.get("role") in ("assistant", "system"):
            record.add_summary(text_of(message))
    for call in calls:
        if call.name == "append_report" and call.error is None and call.ran:
            for line in filter(None, (value for value in call.arguments.values() if isinstance(value, str))):
                record.add(line)
    return record


def _asked(messages: list[Body], state: TaskState) -> str:
    """The request: the latest user message that asks for something, else the goal of the task state.

    A summary that arrives as a user message is what the user says. Only where no task can be found in it does it count
    as "go on".
    """
    for message in reversed(messages):
        if message.get("role") == "user":
            text = text_of(message)
            asks_nothing = is_go_on(text) or (text.startswith(SUMMARY_MARK) and survey_in(text) is None)
            if not asks_nothing:
                return text
    return state.goal
