"""One failing test, told to a learner: the call, what came back, what was expected, and where."""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from course.checker.drawing import draw, find_marks, pick_list, show_call, show_pair, show_value
from course.checker.recording import NOTHING, Call, InputChangedError, Recorder, find_place

Failure = dict[str, Any]
Comparison = tuple[str, Any, Any]  # operator, left, right of the comparison that failed

_OPERATORS = {"==": "", "is": "", "in": "something in ", "not in": "something not in ", "!=": "something else than "}
_STUB = re.compile(r"exercise (\d+\.\d+)\b")
_DID_NOT_RAISE = re.compile(r"DID NOT RAISE (?:<class ')?(?:[\w.]*\.)?(\w+)")
_NO_NAME = re.compile(r"(?:module 'chapters\.\w+' has no attribute|name|type object) '(\w+)'")


@dataclass(frozen=True)
class Scene:
    """What is known about a failing test."""

    number: str
    owner: str
    path: Path
    module: ModuleType | None
    recorder: Recorder
    comparison: Comparison | None
    error: BaseException


def tell(scene: Scene) -> Failure:
    """The failure as plain data: kind, called, got, expected, why, line, rows, and the value it is recognised by."""
    error, call = scene.error, scene.recorder.last(scene.owner)
    failure: Failure = {"kind": "wrong", "line": _line(scene), "called": show_call(call) if call else "", "why": ""}
    failure |= {"got": "", "expected": "", "rows": []}
    stub = _STUB.match(str(error)) if isinstance(error, NotImplementedError) else None
    if stub:
        own = stub[1] == scene.number
        return failure | {"kind": "stub" if own else "waits", "for": stub[1], "value": f"stub {stub[1]}"}
    if isinstance(error, InputChangedError):
        failure |= {"why": str(error), "got": "the input was changed", "expected": "the input as it was"}
        changed = re.sub(r"^(messages\[\d+\]).*", r"\1: this one", str(error))
        return failure | {"value": "input changed", "rows": _rows(call, [changed])}
    if isinstance(error, AssertionError | pytest.fail.Exception) and not _raised_by_learner(scene):
        return failure | _assertion(scene, call)
    return failure | _exception(scene, call)


def _assertion(scene: Scene, call: Call | None) -> Failure:
    """What a failed assertion says: the compared values, else the result and the test's own line."""
    message = str(scene.error).partition("\nassert ")[0]
    why = "" if message.startswith("assert ") else message
    result = call.result if call else NOTHING
    if scene.comparison is None:
        silent = _DID_NOT_RAISE.match(why)
        source = traceback.extract_tb(scene.error.__traceback__)[-1].line or ""
        expected = f"it raises {silent[1]}" if silent else source.removeprefix("assert ").partition(", ")[0]
        failure: Failure = {"got": show_value(result), "expected": expected, "why": "" if silent else why}
        return failure | {"value": value_key(result), "rows": _rows(call, [why])}
    operator, left, right = scene.comparison
    why = (_odd_result(result) if left is result else "") or why
    got, expected = show_pair(left, right)
    if operator in ("in", "not in"):
        got, expected = show_value(right), f"{show_value(left)} {operator} it"
    else:
        expected = _OPERATORS.get(operator, f"{operator} ") + expected
    return {
        "got": got,
        "expected": expected,
        "why": why,
        "value": value_key(left),
        "rows": _rows(call, [why, got], left, right),
    }


def _exception(scene: Scene, call: Call | None) -> Failure:
    """What an exception means, in words that a learner knows."""
    error = scene.error
    name = type(error).__name__
    missing = _NO_NAME.match(str(error))
    value, why = f"raises {name}", ""
    if isinstance(error, SystemExit):
        why = "It ends Python (`sys.exit`, `exit` or `quit`). A function returns its result, or raises an error."
    elif isinstance(error, RecursionError):
        why = "It calls itself without end."
    elif isinstance(error, MemoryError):
        why = "It used up the memory: something grows without end."
    elif missing and isinstance(error, AttributeError | NameError):
        why = f"There is no {missing[1]} in the file: is it misspelled, or was it deleted?"
    elif not _raised_by_learner(scene) and call is not None and call.result is not NOTHING:
        value = value_key(call.result)
        why = _odd_result(call.result) or f"What came back cannot be used here: {name}: {error}"
        return {"got": show_value(call.result), "why": why, "value": value, "rows": _rows(call, [])}
    return {"got": f"{name}: {error}"[:300], "why": why, "value": value, "rows": _rows(call, [str(error)])}


def _odd_result(result: Any) -> str:
    """What is odd about a result whatever was expected, or ""."""
    if result is None:
        return "It returned nothing (None): is a `return` missing?"
    if isinstance(result, Iterator):
        return "A generator or an iterator came back: return a list, without `yield`."
    return ""


def _rows(call: Call | None, texts: list[str], got: Any = None, expected: Any = None) -> list[dict[str, Any]]:
    """The message list of the call, drawn."""
    messages = pick_list(call)
    return draw(messages, find_marks(texts, got, expected)) if messages else []


def value_key(value: Any) -> str:
    """A short text by which a wrong value is recognised, the same on every machine."""
    text = re.sub(r" at 0x[0-9a-fA-F]+", "", show_value(value, 100_000))
    return text if len(text) <= 120 else f"{text[:90]}…{len(text)}…{text[-25:]}"


def _learner_lines(scene: Scene) -> list[int]:
    """The lines of the learner's file in the error's traceback, the innermost last."""
    frames = traceback.extract_tb(scene.error.__traceback__)
    return [frame.lineno for frame in frames if frame.lineno and Path(frame.filename) == scene.path]


def _raised_by_learner(scene: Scene) -> bool:
    """Whether the error came out of the learner's file, whoever raised it below."""
    return bool(_learner_lines(scene)) and not isinstance(scene.error, InputChangedError)


def _line(scene: Scene) -> int:
    """Where to look: the line that raised, else the first line of the function."""
    lines = [] if isinstance(scene.error, InputChangedError) else _learner_lines(scene)
    return lines[-1] if lines else line_of(scene.module, scene.owner)


def line_of(module: ModuleType | None, owner: str) -> int:
    """The line on which a function begins; 1 when it is not known."""
    if module is None:
        return 1
    place, name = find_place(module, owner)
    function: Any = getattr(place, name, None) if place is not None else None
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return getattr(getattr(function, "__code__", None), "co_firstlineno", 1)
