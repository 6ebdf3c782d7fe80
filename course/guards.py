"""The guards of the compression, each with a way to switch it off and what has to go wrong then.

A guard is switched off by replacing its function in a copy of the chapters (see `course.loading`), or by a setting that
the agent has anyway. What follows is not staged: the same worker, the same provider, one guard less.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from course.loading import REFERENCE, load_chapters
from reference.messages import Message

# What stands for the middle when nobody summarises it.
DROPPED = "Earlier turns were dropped."


# Makes the replacement of a name out of the chapters that are loaded already.
Replacement = Callable[[Mapping[str, ModuleType]], Any]


@dataclass(frozen=True)
class Guard:
    """A guard: what it does, the options under which its absence shows, what then changes.

    `replaced` gives by chapter and name what takes the place of the guard's function; where it is empty, a setting of
    the agent does.
    """

    does: str
    bites: str
    then: str
    replaced: Mapping[str, Mapping[str, Replacement]] = field(default_factory=dict)


def _everything(messages: list[Message], *_: Any, **__: Any) -> list[Message]:
    """The messages, with no result pruned."""
    return list(messages)


def _same(messages: list[Message], index: int) -> int:
    """The cut where it is."""
    return index


def _end(messages: list[Message]) -> int:
    """No group is kept for not being read."""
    return len(messages)


def _unrepaired(messages: Iterable[Message], **_: Any) -> tuple[list[Message], int]:
    """The messages as they are: nobody cleans up behind a cut."""
    return list(messages), 0


def _no_anchors(messages: list[Message]) -> list[int]:
    """No message is an anchor."""
    return []


GUARDS: dict[str, Guard] = {
    "prune": Guard(
        "clears old tool results without calling a model",
        "--without prune",
        "more summaries are written by a model, and more prompt tokens sent for them",
        {"ch10_compress": {"prune_old_tool_results": lambda chapters: _everything}},
    ),
    "align": Guard(
        "moves cuts to the edges of tool groups",
        "--without align",
        "the provider answers 400: a result without its call",
        {
            "ch10_compress": {
                "_align_to_assistant_boundary": lambda chapters: _same,
                "_align_boundary_backward": lambda chapters: _same,
                "_unseen_group": lambda chapters: _end,
                "sanitize_tool_pairs": lambda chapters: _unrepaired,
            }
        },
    ),
    "summary": Guard(
        "has the middle summarised instead of dropped",
        "--without summary --without task-state",
        "work is lost: fewer files are noted than with it",
    ),
    "anchor": Guard(
        "keeps the last request behind the summary",
        "--without anchor --without task-state --scenario change-of-mind --threshold 0.3",
        "the new request is lost: files are read that it does not ask for, and its own are missing",
        {"ch10_compress": {"find_anchors": lambda chapters: _no_anchors}},
    ),
    "stuck": Guard(
        "stops when compression cannot get on",
        "--without stuck --without task-state --scenario huge-brief",
        "the agent grinds on to its limit of calls, a summary before nearly each, instead of ending cleanly",
        {"ch11_stuck": {"StuckAwareAgent": lambda chapters: chapters["ch10_compress"].CompressingAgent}},
    ),
    "task-state": Guard(
        "keeps goal and progress outside the messages",
        "--without task-state",
        "files are read again and again, and the survey never ends",
    ),
}

USER_ROLE = Guard(
    "gives the summary the role assistant",
    "--summary-role user --without task-state",
    "the summary is no longer the agent's own record, and finished work is done again",
    {"ch10_compress": {"summary_message": lambda chapters: _as_user(chapters["ch09_summary"].summary_message)}},
)


def _as_user(summary_message: Callable[[str], Message]) -> Callable[[str], Message]:
    """A function like `summary_message` whose message has the role user."""
    return lambda text: summary_message(text) | {"role": "user"}


def weakened_chapters(
    off: Collection[str], summary_role: str = "assistant", folder: Path = REFERENCE
) -> dict[str, ModuleType]:
    """The chapters of a folder by stem, with the functions of the guards `off` replaced."""
    guards = [*(GUARDS[name] for name in GUARDS if name in off), *([USER_ROLE] if summary_role == "user" else [])]
    replaced: dict[str, dict[str, Replacement]] = {}
    for guard in guards:
        for stem, names in guard.replaced.items():
            replaced.setdefault(stem, {}).update(names)
    return load_chapters(replaced, folder)


def table() -> str:
    """The guards as text for `--help`: what each does, the options under which its absence shows, what happens then."""
    rows = [*GUARDS.items(), ("summary-role", USER_ROLE)]
    return "\n\n".join(f"{name}: {guard.does}. Try {guard.bites}: {guard.then}." for name, guard in rows)
