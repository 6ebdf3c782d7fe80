"""The history as HTML: one tile a message, groups bracketed, head, middle and tail named, cuts drawn."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from course.plots.strip import short, tile_of
from course.replay.cuts import Cuts, places_in_groups
from course.replay.pieces import Pieces, fill, text
from course.replay.scene import Scene
from course.timeline import Timeline
from reference.ch05_budget import estimate_message_tokens
from reference.ch07_boundaries import find_anchors
from reference.messages import Message, text_of

MOST = 52  # tiles of one history; of a longer one the places around its cuts and its end are shown
MOST_OF_TWO = 34
LEGEND = (
    "S system &nbsp; U user &nbsp; A assistant &nbsp; T tool result &nbsp; C summary &nbsp; b bridge &nbsp; "
    "&ndash; cleared &nbsp; * anchor &nbsp; &#9141; one group &nbsp; &#9475; cut &nbsp; &#9478; before alignment"
)


def strip_panel(timeline: Timeline, scene: Scene) -> Pieces:
    """The history of a scene; at a compression the one before and the one after it."""
    pieces = ['<section class="cc-strip">']
    if scene.after is None:
        name = "History, next cuts" if scene.cuts else "History"
        pieces += _history(timeline, name, scene.history, scene.cuts, MOST, scene.fault)
    else:
        name = "Before, and its cuts" if scene.cuts else "Before"
        pieces += _history(timeline, name, scene.history, scene.cuts, MOST_OF_TWO)
        pieces += _history(timeline, "After", scene.after, None, MOST_OF_TWO)
    return [*pieces, f'<p class="cc-note">{LEGEND}</p></section>']


def _history(
    timeline: Timeline, name: str, ids: Sequence[str], cuts: Cuts | None, most: int, fault: str | None = None
) -> Pieces:
    """One history: its size in words, and its tiles."""
    known = [one for one in ids if isinstance(timeline.messages.get(one), dict)]
    messages = [timeline.messages[one] for one in known]
    tokens = sum(map(estimate_message_tokens, messages))
    count = f"{len(messages)} message{'s' if len(messages) != 1 else ''}, ≈{tokens:,} tokens"
    pieces = [f"<h3>{name}: {count}</h3>", '<div class="cc-tiles">']
    anchors, groups = set(find_anchors(messages)), places_in_groups(messages)
    faults = {place for place, one in enumerate(known) if one == fault}
    last = -1
    for place in _shown(len(messages), cuts, most, {*anchors, *faults}):
        if place > last + 1:
            pieces.append(f'<i class="cc-gap">+{place - last - 1}</i>')
        pieces += _marks(range(last + 1, place + 1), cuts)
        pieces.append(_tile(messages[place], place in anchors, place in faults, _zone(place, cuts), groups.get(place)))
        last = place
    return [*pieces, "</div>"]


def _shown(count: int, cuts: Cuts | None, most: int, wanted: Collection[int]) -> list[int]:
    """The places that are shown, in order: all where they fit, else the start, what is wanted, the cuts and the end."""
    if count <= most:
        return list(range(count))
    near = [place for cut in (cuts.cut if cuts else ()) for place in range(cut - 3, cut + 3)]
    chosen = {place for place in (*range(3), *wanted, *near) if 0 <= place < count}
    for place in range(count - 1, -1, -1):
        if len(chosen) >= most:
            break
        chosen.add(place)
    return sorted(chosen)


def _marks(places: range, cuts: Cuts | None) -> Pieces:
    """What stands in front of the last of these places: the names of zones, and the cuts."""
    if cuts is None:
        return []
    pieces = []
    head_end, tail_start = cuts.cut
    for place in places:
        pieces += ['<i class="cc-raw"></i>'] if place in cuts.raw and place not in (0, *cuts.cut) else []
        pieces += ['<i class="cc-cut"></i>'] if place in cuts.cut and place else []
        name = {0: "head", tail_start: "tail", head_end: "middle"}.get(place, "")
        pieces += [f'<i class="cc-zone">{name}</i>'] if name else []
    return pieces


def _zone(place: int, cuts: Cuts | None) -> str:
    """The shading of a place: what is kept is grey."""
    return "kept" if cuts and not cuts.cut[0] <= place < cuts.cut[1] else "free"


def _tile(message: Message, anchor: bool, fault: bool, zone: str, group: str | None) -> str:
    """One message."""
    look = tile_of(message)
    edge = f"{look.line}px {'dashed' if look.dashed else 'solid'} #222"
    letter = look.letter + ("*" if anchor else "") + ("!" if fault else "")
    words = f"{message.get('role')}, about {short(estimate_message_tokens(message))} tokens: {_words(message)}"
    classes = f"cc-{zone}{f' cc-{group}' if group else ''}{' cc-fault' if fault else ''}"
    style = f"background:{fill(look.fill, look.hatch)};border:{edge}"
    return f'<i class="{classes}"><b style="{style}" title="{text(words)}"><s>{letter}</s></b></i>'


def _words(message: Message) -> str:
    """The first words of a message, or the tools that it calls."""
    calls = message.get("tool_calls")
    names = [str(one.get("function", {}).get("name")) for one in calls if isinstance(one, dict)] if calls else []
    return " ".join(text_of(message.get("content")).split())[:100] or ", ".join(names)
