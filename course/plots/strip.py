"""A history as a strip: one tile a message with its role's letter and its size, groups bracketed, cuts marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from course.plots.figure import STYLE, WIDTH, Picture
from reference.ch05_budget import estimate_message_tokens
from reference.ch06_prune import PLACEHOLDER_START
from reference.ch07_boundaries import find_anchors, is_bridge, is_summary
from reference.ch08_alignment import tool_groups
from reference.messages import SYSTEM_ROLES, Message, text_of

PER_ROW = 22
ROW_HEIGHT = 2.15
EDGE = "#222222"
NOTE = (
    "S system   U user   A assistant   T tool result   C summary   b bridge   – cleared   * anchor   "
    "below each: tokens, place"
)


@dataclass(frozen=True)
class Tile:
    """How one message looks."""

    letter: str
    fill: str
    hatch: str = ""
    line: float = 1.0
    dashed: bool = False


def tile_of(message: Message) -> Tile:
    """The look of a message: by its role, or by what the agent made of it."""
    if is_summary(message):
        return Tile("C", "#ffd54f", "xx", 2.6)
    if is_bridge(message):
        return Tile("b", "white", "", 1.0, dashed=True)
    role = message.get("role")
    if role in SYSTEM_ROLES:
        return Tile("S", "#9fb3d1")
    if role == "user":
        return Tile("U", "#a5d6a7", "", 2.0)
    if role == "tool":
        cleared = text_of(message.get("content")).startswith(PLACEHOLDER_START)
        return Tile("–", "white", "", 1.0, dashed=True) if cleared else Tile("T", "#f4a582", "//")
    return Tile("A", "#f2f2f2")


def message_strip(messages: Sequence[Message], *, cut: tuple[int, int] | None = None, title: str = "") -> Picture:
    """A picture of a history, one tile a message; `cut` is (head_end, tail_start), which shades head and tail."""
    return _picture([(title, messages, cut)])


def strips(
    before: Sequence[Message],
    after: Sequence[Message],
    *,
    titles: tuple[str, str] = ("before", "after"),
    cut: tuple[int, int] | None = None,
) -> Picture:
    """A picture of two histories one above the other; `cut` belongs to the first."""
    return _picture([(titles[0], before, cut), (titles[1], after, None)])


def _picture(parts: list[tuple[str, Sequence[Message], tuple[int, int] | None]]) -> Picture:
    """A picture with one strip for each (title, messages, cut)."""
    heights = [0.5 + max(1, -(-len(messages) // PER_ROW)) * ROW_HEIGHT for _, messages, _ in parts]
    with rc_context(STYLE):
        picture = Picture(figsize=(WIDTH, 0.5 + sum(heights) * 0.72), dpi=100, layout="constrained")
        grid = picture.subplots(len(parts), 1, squeeze=False, height_ratios=heights)
        for axes, (title, messages, cut) in zip(grid.flat, parts, strict=True):
            total = sum(map(estimate_message_tokens, messages))
            axes.set_title(f"{title + ':  ' if title else ''}{len(messages)} messages, about {total:,} tokens")
            _draw(axes, messages, cut)
        picture.supxlabel(NOTE, fontsize=12)
    return picture


def _draw(axes: Axes, messages: Sequence[Message], cut: tuple[int, int] | None) -> None:
    """Draw one strip in rows of tiles."""
    rows = max(1, -(-len(messages) // PER_ROW))
    axes.set_xlim(-0.15, PER_ROW + 0.15)
    axes.set_ylim(-rows * ROW_HEIGHT + 0.35, 0.5 if cut else 0.1)
    axes.axis("off")
    anchors = set(find_anchors(messages))
    if cut:
        _shade(axes, len(messages), cut)
    for place, message in enumerate(messages):
        _tile(axes, place, message, place in anchors)
    for start, stop in tool_groups(messages):
        _bracket(axes, start, stop)


def _spot(place: int) -> tuple[float, float]:
    """The lower left corner of a tile."""
    return place % PER_ROW, -(place // PER_ROW) * ROW_HEIGHT - 0.8


def _tile(axes: Axes, place: int, message: Message, anchor: bool) -> None:
    """Draw a message: letter in the middle, tokens and place below it."""
    x, y = _spot(place)
    look = tile_of(message)
    axes.add_patch(
        Rectangle(
            (x + 0.05, y),
            0.9,
            0.8,
            facecolor=look.fill,
            hatch=look.hatch,
            edgecolor=EDGE,
            linewidth=look.line,
            linestyle="--" if look.dashed else "-",
        )
    )
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5} if look.hatch else None
    letter = look.letter + ("*" if anchor else "")
    axes.text(x + 0.5, y + 0.4, letter, ha="center", va="center", fontsize=16, fontweight="bold", bbox=box)
    axes.text(x + 0.5, y - 0.2, short(estimate_message_tokens(message)), ha="center", va="center", fontsize=12)
    axes.text(x + 0.5, y - 0.72, str(place), ha="center", va="center", fontsize=12, color="#666666")


def _bracket(axes: Axes, start: int, stop: int) -> None:
    """Draw the bracket of a group, in pieces where it goes on in the next row."""
    for place in range(start, stop):
        x, y = _spot(place)
        left = x + (0.08 if place == start else 0.0)
        right = x + (0.92 if place == stop - 1 else 1.0)
        axes.plot([left, right], [y - 0.44, y - 0.44], color=EDGE, linewidth=2)
        for edge, ends in ((left, place == start), (right, place == stop - 1)):
            if ends:
                axes.plot([edge, edge], [y - 0.44, y - 0.34], color=EDGE, linewidth=2)


def _shade(axes: Axes, count: int, cut: tuple[int, int]) -> None:
    """Shade head and tail, and draw the two cuts with their names."""
    head_end, tail_start = cut
    for place in range(count):
        x, y = _spot(place)
        if place < head_end or place >= tail_start:
            axes.add_patch(Rectangle((x, y - 0.92), 1.0, 1.86, facecolor="#d9d9d9", edgecolor="none", zorder=0))
    for name, start, stop in (("head", 0, head_end), ("middle", head_end, tail_start), ("tail", tail_start, count)):
        if start < stop:
            x, y = _spot(start)
            axes.text(x + 0.08, y + 0.92, name, fontsize=13, fontstyle="italic", va="bottom")
        if 0 < start < count:
            x, y = _spot(start)
            axes.plot([x, x], [y - 0.92, y + 1.22], color="black", linewidth=3)


def short(tokens: int) -> str:
    """A number of tokens in at most four characters: 950, 1.2k, 12k."""
    if tokens < 1_000:
        return str(tokens)
    return f"{tokens / 1_000:.1f}k" if tokens < 10_000 else f"{tokens // 1_000}k"
