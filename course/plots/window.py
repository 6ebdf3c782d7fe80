"""The window over the calls of a run: what filled it, part by part, and what of it was paid for in full."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from course.parts import PARTS
from course.plots.figure import LOOKS, STYLE, Picture, new_picture
from course.timeline import Timeline

FEW_CALLS = 24  # so few that a letter fits into a bar
EDGE = "#222222"
COUNTED = re.compile(r"resulted in ([\d,]+) tokens")  # in the provider's own words, of a prompt that was too long


@dataclass
class Call:
    """One request of the agent: its tokens by part, what was reported, and what happened before or to it."""

    number: int
    parts: dict[str, int]
    prompt_tokens: int = 0
    cached_tokens: int = 0
    compression: str = ""
    refused: str = ""

    def scaled(self) -> dict[str, float]:
        """The parts, brought to the sum that the provider reported."""
        estimated = sum(self.parts.values())
        ratio = self.prompt_tokens / estimated if self.prompt_tokens and estimated else 1.0
        return {part: tokens * ratio for part, tokens in self.parts.items()}


@dataclass
class Calls:
    """The requests of a timeline, its window and its trigger in tokens."""

    calls: list[Call] = field(default_factory=list)
    window: int = 0
    trigger: int = 0


def calls_of(timeline: Timeline) -> Calls:
    """The requests of a timeline in their order; a compression belongs to the request behind it."""
    found, compression = Calls(), ""
    for event in timeline.events:
        data: dict[str, Any] = event.data
        if event.kind == "run":
            found.window, found.trigger = data["context_length"], data["trigger"]
        elif event.kind == "compression":
            compression = data["outcome"]
        elif event.kind == "request":
            found.calls.append(Call(data["call"], data["parts"], compression=compression))
            compression = ""
        elif event.kind == "response" and found.calls:
            call = found.calls[-1]
            call.prompt_tokens, call.cached_tokens = data["prompt_tokens"], data["cached_tokens"]
        elif event.kind == "refused" and found.calls:
            found.calls[-1].refused = f"{data['status']} {data['code'] or ''}".strip()
            if counted := COUNTED.search(data["text"] or ""):
                found.calls[-1].prompt_tokens = int(counted[1].replace(",", ""))
    return found


def window_over_calls(timeline: Timeline, *, title: str = "What fills the window, call by call") -> Picture:
    """A picture with one stacked bar a request, by part, against the window and the trigger."""
    picture, (axes,) = new_picture(5.4)
    with rc_context(STYLE):
        draw_window(axes, calls_of(timeline), letters=True)
        axes.set_title(title)
        axes.set_xlabel("request")
        axes.set_ylabel("prompt tokens")
        legend(picture, timeline)
    return picture


def draw_window(axes: Axes, run: Calls, *, letters: bool = False) -> None:
    """Draw the bars of a run, its two lines, and the marks of compressions and refusals."""
    bottom = [0.0] * len(run.calls)
    numbers = [call.number for call in run.calls]
    shares = [call.scaled() for call in run.calls]
    for part in PARTS:
        heights = [share.get(part, 0.0) for share in shares]
        letter, fill, hatch = LOOKS[part]
        axes.bar(numbers, heights, 0.86, bottom, color=fill, hatch=hatch, edgecolor=EDGE, linewidth=0.5)
        if letters and len(numbers) <= FEW_CALLS:
            _letters(axes, letter, numbers, heights, bottom, run.window)
        bottom = [low + height for low, height in zip(bottom, heights, strict=True)]
    _lines(axes, run)
    _marks(axes, run, bottom, letters)
    axes.set_ylim(0, max([1.0, run.window * 1.13, *(top + run.window * 0.13 for top in bottom)]))
    axes.set_xlim(0.3, max([6.7, *(number + 0.7 for number in numbers)]))
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _letters(
    axes: Axes, letter: str, numbers: list[int], heights: list[float], bottom: list[float], window: int
) -> None:
    """Write a part's letter into each segment that is high enough."""
    for number, height, low in zip(numbers, heights, bottom, strict=True):
        if height > window * 0.055:
            box = {"facecolor": "white", "edgecolor": "none", "pad": 1.2}
            axes.text(number, low + height / 2, letter, ha="center", va="center", fontsize=12, bbox=box)


def _lines(axes: Axes, run: Calls) -> None:
    """Draw the window and the trigger, each with its number at the right."""
    spots: dict[str, Any] = {"ha": "left", "va": "center", "transform": axes.get_yaxis_transform(), "fontsize": 12}
    axes.axhline(run.window, color="black", linewidth=2)
    axes.text(1.005, run.window, f"window\n{run.window:,}", **spots)
    if 0 < run.trigger < run.window:
        axes.axhline(run.trigger, color="black", linewidth=1.4, linestyle=(0, (6, 3)))
        axes.text(1.005, run.trigger, f"trigger\n{run.trigger:,}", **spots)


def _marks(axes: Axes, run: Calls, tops: list[float], words: bool) -> None:
    """Mark in one row above the window what a compression came before, and above its bar what was refused."""
    size, edge = 9 if words and len(run.calls) <= 60 else 5, "black"
    for call, top in zip(run.calls, tops, strict=True):
        if call.refused:
            height = max(top, run.window) + run.window * 0.055
            axes.plot(call.number, height, marker="X", markersize=13, color="#b42318", markeredgecolor=edge)
            if words:
                axes.text(call.number - 0.5, height, f"refused: {call.refused}", ha="right", va="center")
        elif call.compression in ("compressed", "pruned"):
            fill = "black" if call.compression == "compressed" else "white"
            axes.plot(call.number, run.window * 1.06, marker="v", markersize=size, color=fill, markeredgecolor=edge)


def legend(picture: Picture, *timelines: Timeline) -> None:
    """Name below the picture what its letters and marks stand for, as far as they occur."""
    calls = [call for timeline in timelines for call in calls_of(timeline).calls]
    names = [part for part in PARTS if any(call.parts.get(part) for call in calls)]
    handles: list[Any] = [
        Patch(facecolor=LOOKS[part][1], hatch=LOOKS[part][2], edgecolor=EDGE, label=f"{LOOKS[part][0]}  {part}")
        for part in names
    ]
    for outcome, fill, label in (("compressed", "black", "summary before it"), ("pruned", "white", "pruned before it")):
        if any(call.compression == outcome for call in calls):
            handles.append(_marker(fill, label))
    picture.legend(handles=handles, loc="outside lower center", ncols=5, frameon=False, fontsize=13, handlelength=2.6)


def _marker(fill: str, label: str) -> Any:
    """The legend's entry for a mark of a compression."""
    from matplotlib.lines import Line2D

    return Line2D([], [], marker="v", linestyle="", markersize=9, color=fill, markeredgecolor="black", label=label)


def tokens_over_calls(timeline: Timeline, *, title: str = "Prompt tokens, and how many of them were cached") -> Picture:
    """A picture with one bar a request: the cached tokens below, those paid for in full on top of them."""
    run = calls_of(timeline)
    answered = [call for call in run.calls if call.prompt_tokens and not call.refused]
    numbers = [call.number for call in answered]
    cached = [call.cached_tokens for call in answered]
    fresh = [call.prompt_tokens - call.cached_tokens for call in answered]
    picture, (axes,) = new_picture(4.6)
    with rc_context(STYLE):
        axes.bar(numbers, cached, 0.86, color="#cfd8dc", hatch="..", edgecolor=EDGE, linewidth=0.5, label="cached")
        axes.bar(numbers, fresh, 0.86, cached, color="#37474f", edgecolor=EDGE, linewidth=0.5, label="paid in full")
        axes.set_title(title)
        axes.set_xlabel("request")
        axes.set_ylabel("prompt tokens")
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.set_xlim(0.3, max([6.7, *(number + 0.7 for number in numbers)]))
        picture.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=13, handlelength=2.6)
    return picture
