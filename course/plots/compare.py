"""Several runs side by side, on one scale: with a guard and without it."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib import rc_context

from course.plots.figure import STYLE, Picture, new_picture
from course.plots.window import calls_of, draw_window, legend
from course.timeline import Timeline


def compare(timelines: Mapping[str, Timeline]) -> Picture:
    """A picture with one window over calls for each named run, and how each ended, all on one scale.

    Two runs stand one above the other, more in two columns.
    """
    columns = 1 if len(timelines) < 3 else 2
    rows = -(-len(timelines) // columns)
    picture, panels = new_picture(0.9 + 3.1 * rows, rows, columns)
    with rc_context(STYLE):
        top, right = 0.0, 0.0
        for axes, (name, timeline) in zip(panels, timelines.items(), strict=False):
            draw_window(axes, calls_of(timeline))
            axes.set_title(f"{name}: {ending(timeline)}", fontsize=13)
            top, right = max(top, axes.get_ylim()[1]), max(right, axes.get_xlim()[1])
        for axes in panels[len(timelines) :]:
            axes.set_visible(False)
        panels[0].set_ylim(0, top)
        panels[0].set_xlim(0.3, right)
        for place, axes in enumerate(panels):
            if place + columns >= len(timelines):
                axes.set_xlabel("request")
            if place % columns == 0:
                axes.set_ylabel("prompt tokens")
        legend(picture, *timelines.values())
    return picture


def ending(timeline: Timeline) -> str:
    """How a run ended, in a few words: "40 of 40 noted, 43 calls", "refused at call 12, 9 of 40 noted"."""
    end, calls = timeline.last("end"), len(calls_of(timeline).calls)
    result = end.get("result") or {}
    noted = f"{result['right']} of {result['files']} noted" if "right" in result else ""
    reasons = {"answer": f"{calls} calls", "refused": f"refused at call {calls}", "stuck": f"stuck at call {calls}"}
    how = reasons.get(end.get("stop_reason", ""), f"stopped after {calls} calls")
    return ", ".join(part for part in (noted, how) if part)
