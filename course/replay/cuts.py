"""Where a history is cut into head, middle and tail: as planned, as done, and before the cuts were aligned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reference.ch07_boundaries import find_boundaries, is_bridge, is_summary
from reference.ch08_alignment import tool_groups
from reference.ch10_compress import find_cut, prune_read
from reference.messages import Message

PROTECT_FIRST = 3
KEEP_RECENT = 3


@dataclass(frozen=True)
class Cuts:
    """Two cuts through a history, (head_end, tail_start) each: where it is cut, and where it was before alignment."""

    cut: tuple[int, int]
    raw: tuple[int, int]


def planned_cuts(messages: Sequence[Message], tail_tokens: int, aligned: bool = True) -> Cuts | None:
    """The cuts of a compression that came now, with a tail of so many estimated tokens; None where there is no middle.

    With `aligned` false the guard that aligns is off, and the history is cut where the arithmetic says.
    """
    raw = _raw(messages, tail_tokens)
    found = find_cut(prune_read(messages, KEEP_RECENT), PROTECT_FIRST, tail_tokens) if aligned else None
    cut = (found.head_end, found.tail_start) if found else raw
    return Cuts(cut, raw) if cut[0] < cut[1] else None


def done_cuts(before: Sequence[Message], after: Sequence[Message], tail_tokens: int) -> Cuts | None:
    """The cuts of a compression that was done, read off what it kept; None where it made no summary.

    The head is what stands before the summary, the tail what both histories end with; a cleared result counts as kept.
    """
    place = next((index for index, message in enumerate(after) if is_summary(message)), None)
    if place is None:
        return None
    head_end = sum(not is_bridge(message) for message in after[:place])
    tail = 0
    while tail < min(len(before) - head_end, len(after) - place - 1) and _same(before[-1 - tail], after[-1 - tail]):
        tail += 1
    return Cuts((head_end, len(before) - tail), _raw(before, tail_tokens))


def _raw(messages: Sequence[Message], tail_tokens: int) -> tuple[int, int]:
    """Where the arithmetic alone would cut: so many messages in front, so many tokens behind."""
    protected = 1 if any(map(is_summary, messages)) else PROTECT_FIRST
    return find_boundaries(prune_read(messages, KEEP_RECENT), protected, tail_tokens)


def _same(old: Message, new: Message) -> bool:
    """Whether a message was kept, be it with its text cleared."""
    if old == new:
        return True
    return old.get("role") == new.get("role") == "tool" and old.get("tool_call_id") == new.get("tool_call_id")


def places_in_groups(messages: Sequence[Message]) -> dict[int, str]:
    """For each message of a tool group where it stands in its bracket: first, inside, last, or alone."""
    places: dict[int, str] = {}
    for start, stop in tool_groups(messages):
        for place in range(start, stop):
            first, last = place == start, place == stop - 1
            places[place] = "alone" if first and last else "first" if first else "last" if last else "inside"
    return places
