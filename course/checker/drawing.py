"""Values and message lists as a learner reads them: short, one line each."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from course.checker.recording import NOTHING, Call

MAX_VALUE = 240
MAX_ARGUMENT = 150
AROUND = 4  # rows shown on either side of a marked one
SPOT = re.compile(r"messages\[(\d+)\]: ([^\n]*)")  # how tests and errors name a message: `messages[3]: still here`

Row = dict[str, Any]  # index, role, text, note; index None stands for rows left out


def is_message_list(value: Any) -> bool:
    """Whether a value is a list of messages, not empty."""
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) and "role" in one for one in value)


def show_value(value: Any, limit: int = MAX_VALUE) -> str:
    """A value in at most `limit` characters; a long list of messages is named by its roles."""
    if value is NOTHING:
        return "nothing: it did not return"
    try:
        text = repr(value)
    except Exception as error:  # a learner's own class may fail here
        text = f"<a {type(value).__name__} whose repr raises {type(error).__name__}>"
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", text)
    if len(text) > limit and is_message_list(value):
        text = f"{len(value)} messages: {', '.join(str(message['role']) for message in value)}"
    return shorten(text, limit)


def printable(text: str) -> str:
    """`text` with what no terminal should get (NUL, escapes, half a surrogate pair) as it is written in Python."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def shorten(text: str, limit: int) -> str:
    """`text` with its middle left out where it is longer than `limit`."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]} … {text[-limit // 4 :]}"


def show_pair(got: Any, expected: Any) -> tuple[str, str]:
    """Two values, cut around the first place where they differ when they are long."""
    shown = [repr(value) for value in (got, expected)]
    if type(got) is not type(expected) or max(map(len, shown)) <= MAX_VALUE or is_message_list(got):
        return show_value(got), show_value(expected)
    place = next((i for i, (a, b) in enumerate(zip(*shown, strict=False)) if a != b), min(map(len, shown)))
    start = max(0, place - MAX_VALUE // 3)
    cut = [("… " if start else "") + text[start : start + MAX_VALUE] for text in shown]
    return cut[0] + " …" * (len(shown[0]) > start + MAX_VALUE), cut[1] + " …" * (len(shown[1]) > start + MAX_VALUE)


def show_call(call: Call) -> str:
    """A call as it was written: `prune_old_tool_results(messages, keep_recent=0)`; long values by their names."""
    shown = []
    for position, (name, value) in enumerate(call.before.items()):
        text = _argument(name, value)
        shown.append(text if position == 0 or text == name else f"{name}={text}")
    return f"{call.owner}({', '.join(shown)})"


def _argument(name: str, value: Any) -> str:
    """An argument: its value where that is short, else its name."""
    if callable(value):
        return name
    text = name if is_message_list(value) and len(repr(value)) > MAX_ARGUMENT else show_value(value, 10_000)
    return text if len(text) <= MAX_ARGUMENT and not text.startswith("<") else name


def pick_list(call: Call | None) -> list[dict[str, Any]]:
    """The messages to draw for a call: those that came back, else those that were passed in."""
    if call is None:
        return []
    result = call.result.get("messages") if isinstance(call.result, dict) else call.result
    candidates = [result, *call.before.values()]
    return next((value for value in candidates if is_message_list(value)), [])


def find_marks(texts: Sequence[str], got: Any, expected: Any) -> dict[int, str]:
    """{position: note} of the bad spots: those named as `messages[3]: note`, else the first difference of two lists."""
    marks: dict[int, str] = {}
    for text in texts:
        for match in SPOT.finditer(text):
            marks.setdefault(int(match[1]), match[2].strip()[:100])
    if not marks and is_message_list(got) and isinstance(expected, list):
        for place in range(max(len(got), len(expected))):
            if place >= len(expected):
                return {place: "not expected"}
            if place >= len(got) or got[place] != expected[place]:
                return {place: _difference(got[place] if place < len(got) else None, expected[place])}
    return marks


def _difference(got: Any, expected: Any) -> str:
    """How one message differs from another: the keys where these are the reason, else what was expected."""
    if not (isinstance(got, dict) and isinstance(expected, dict)):
        return f"expected {brief(expected)}"
    over, under = [key for key in got if key not in expected], [key for key in expected if key not in got]
    told = [f"{word} {', '.join(map(str, keys))}" for word, keys in (("without", over), ("with", under)) if keys]
    return f"expected {' and '.join(told)}" if told else f"expected {brief(expected)}"


def draw(messages: Sequence[dict[str, Any]], marks: dict[int, str]) -> list[Row]:
    """One row a message, those around the marked ones; rows left out are one row without an index."""
    wanted = {i for mark in marks or {0: ""} for i in range(mark - AROUND, mark + AROUND + 1)}
    if len(messages) <= 3 * AROUND:
        wanted = set(range(len(messages)))
    rows: list[Row] = []
    for index, message in enumerate(messages):
        if index in wanted:
            note = marks.get(index, "")
            rows.append({"index": index, "role": str(message.get("role")), "text": _text(message), "note": note})
        elif not rows or rows[-1]["index"] is not None:
            rows.append({"index": None, "role": "", "text": "…", "note": ""})
    rows += [
        {"index": index, "role": "", "text": "(nothing is here)", "note": note}
        for index, note in sorted(marks.items())
        if index >= len(messages)
    ]
    return rows


def brief(message: Any) -> str:
    """A message in a few words."""
    if not isinstance(message, dict):
        return show_value(message, 60)
    return f"{message.get('role')}: {_text(message)}"


def _text(message: dict[str, Any]) -> str:
    """What a message holds, in one short line."""
    content = message.get("content")
    if isinstance(content, list):
        kinds = [str(part.get("type")) if isinstance(part, dict) else type(part).__name__ for part in content]
        shown = f"[{', '.join(kinds)}]"
    else:
        text = "" if content is None else str(content)
        flat = printable(" ".join(text.split()))
        shown = flat if len(flat) <= 60 else f"{flat[:24]}… {len(text):,} characters"
    calls = message.get("tool_calls")
    called = [_call_text(one) for one in calls] if isinstance(calls, list) else []
    extra = [f"{key}={message[key]!r}" for key in message if key.startswith("_")]
    return "  ".join(part for part in (shown, *called, *extra) if part) or "(empty)"


def _call_text(call: Any) -> str:
    """A tool call as `read_file(a.md)`."""
    try:
        arguments = call["function"]["arguments"]
        values = json.loads(arguments).values() if isinstance(arguments, str) and arguments else []
        return f"{call['function']['name']}({', '.join(shorten(str(value), 30) for value in values)})"
    except (TypeError, KeyError, ValueError, AttributeError):
        return f"call {show_value(call, 40)}"
