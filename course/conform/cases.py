"""Reading case files: one JSON object a line, with short-hands for long texts and long lists.

    {"repeat": ["x", 50000]}      "x" 50,000 times
    {"concat": ["a ", {...}]}     one string
    {"each": {"times": 12, "from": 1, "messages": [... "{i}" ...]}}      the messages 12 times, {i} replaced by 1..12

A line that cannot be read is a sentence with file and line; the other lines are read all the same.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Message = dict[str, Any]

CATEGORIES = frozenset(
    re.findall(
        r"\S+",
        "pairing stuck counting store content goal summary-call interrupts ids roles cache-cost order model-switch",
    )
)
SETTINGS = frozenset(
    re.findall(
        r"\w+",
        """
        threshold_tokens threshold_ratio context_window default_window previous_window min_threshold_tokens model
        max_output_tokens protect_head protect_tail tail_tokens prune_over_chars never_prune keep_recent overhead_tokens
        usage reported_prompt_tokens summary passes mode strict_alternation task_state redact append_during_summary
        then_append pending_results each_pass_then_append store rows fault tools calls hook interrupt min_gain
        """,
    )
)
SUMMARY_SETTINGS = frozenset(
    re.findall(r"\w+", "reply replies error max_input_tokens finish_reason echo_prompt max_chars")
)
MAX_EXPANDED = 20_000_000  # characters or messages of one short-hand: a slip of the pen must not eat the memory


@dataclass(frozen=True)
class Case:
    """One reported fault: the input and what must be true of the outcome. `messages` is None where there is none."""

    id: str
    category: str
    messages: list[Message] | None
    settings: dict[str, Any]
    expected: list[str] = field(default_factory=list)
    checks: list[Any] = field(default_factory=list)
    generator: str = ""


@dataclass(frozen=True)
class Line:
    """A line of a case file: its case, or None, and the sentences about what is wrong with it."""

    place: str
    case: Case | None
    problems: list[str]


def read_cases(path: Path) -> Iterator[Line]:
    """Each line of a case file that is not empty; a file that cannot be read is one line with a problem."""
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        yield Line(str(path), None, [f"{path}: cannot be read: {error.strerror or error}."])
        return
    for number, raw in enumerate(lines, 1):
        if raw.strip():
            yield read_line(raw, f"{path}:{number}")


def read_line(raw: bytes, place: str) -> Line:
    """The case of one line, which stands at `place`."""
    try:
        data = json.loads(raw.decode("utf-8", "surrogatepass"))
        if not isinstance(data, dict):
            raise ValueError(f"expected an object, found {type(data).__name__}")
        case = _case(data)
    except (ValueError, TypeError, KeyError, RecursionError, AttributeError) as error:
        return Line(place, None, [f"{place}: this line is no case: {_why(error)}."])
    return Line(place, case, [f"{place}: {case.id}: {problem}" for problem in _unknown(case)])


def _case(data: dict[str, Any]) -> Case:
    """The case in a decoded line; raises ValueError where a field has the wrong form."""
    for key, kind in (("settings", dict), ("expected", list), ("checks", list), ("generator", str)):
        if not isinstance(data.get(key) or kind(), kind):
            raise ValueError(f"{key} must be a {kind.__name__}, found {type(data[key]).__name__}")
    messages = expand(data["messages"]) if "messages" in data else None
    if messages is not None and not (isinstance(messages, list) and all(isinstance(one, dict) for one in messages)):
        raise ValueError("messages must be a list of objects")
    return Case(
        str(data.get("id") or "(no id)"),
        str(data.get("category") or ""),
        messages,
        {key: value for key, value in expand(data.get("settings") or {}).items() if value is not None},
        [str(text) for text in data.get("expected") or ()],
        list(data.get("checks") or ()),
        data.get("generator") or "",
    )


def _unknown(case: Case) -> Iterator[str]:
    """Sentences about a category or settings that this program does not know."""
    if case.category not in CATEGORIES:
        yield f"the category {case.category!r} is not known."
    summary = case.settings.get("summary")
    unknown = sorted(case.settings.keys() - SETTINGS)
    unknown += sorted(
        f"summary.{key}" for key in (summary if isinstance(summary, dict) else {}).keys() - SUMMARY_SETTINGS
    )
    for name in unknown:
        yield f"the setting {name!r} is not known; the case was run without it."


def expand(value: Any) -> Any:
    """`value` with its short-hands written out."""
    if isinstance(value, list):
        return [one for item in value for one in _items(item)]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"repeat"}:
        text, times = value["repeat"]
        _check_size(len(text) * times)
        return text * times
    if value.keys() == {"concat"}:
        return "".join(map(expand, value["concat"]))
    return {key: expand(item) for key, item in value.items()}


def _items(item: Any) -> Iterator[Any]:
    """What stands for one item of a list: itself, or the messages of an `each`."""
    if not (isinstance(item, dict) and item.keys() == {"each"}):
        yield expand(item)
        return
    each = item["each"]
    start = each.get("from", 0)
    _check_size(each["times"])
    for number in range(start, start + each["times"]):
        yield from expand(_filled(each["messages"], number))


def _filled(value: Any, number: int) -> Any:
    """`value` with {i} replaced in every string."""
    if isinstance(value, str):
        return value.replace("{i}", str(number))
    if isinstance(value, list):
        return [_filled(item, number) for item in value]
    return {key: _filled(item, number) for key, item in value.items()} if isinstance(value, dict) else value


def _check_size(size: int) -> None:
    if size > MAX_EXPANDED:
        raise ValueError(f"a short-hand would make {size:,}, more than {MAX_EXPANDED:,}")


def _why(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
