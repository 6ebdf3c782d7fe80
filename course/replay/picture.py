"""The wide picture of a scene as HTML: one function for the file that is handed out and for the notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.replay.panels import counters_panel, lines_panel, refusal_panel, sentence_panel, todo_panel
from course.replay.pieces import Pieces
from course.replay.scene import DAMAGED, Scene, scenes
from course.replay.strip import strip_panel
from course.replay.window import window_panel
from course.timeline import Timeline


def picture(timeline: Timeline, scene: Scene) -> Pieces:
    """The picture of a scene in pieces; joined they are one HTML element, and equal pieces come again and again."""
    if scene.refusal is not None:
        low = _drawn(refusal_panel, timeline, scene.refusal)
    else:
        low = [*_drawn(todo_panel, scene.frame), *_drawn(lines_panel, scene.frame)]
    two, failed = (" cc-two" if scene.after is not None else ""), (" cc-failed" if scene.refusal else "")
    return [
        f'<div class="cc-picture{two}{failed}">',
        *_drawn(sentence_panel, scene),
        *_drawn(window_panel, scene),
        *_drawn(strip_panel, timeline, scene),
        '<div class="cc-low">',
        *low,
        "</div>",
        *_drawn(counters_panel, scene.frame),
        "</div>",
    ]


def _drawn(panel: Callable[..., Pieces], *of: Any) -> Pieces:
    """A panel; where the file is damaged, a sentence in its place, so that the rest is shown."""
    try:
        return panel(*of)
    except DAMAGED:
        return ["<section><h3>This part of the run is damaged in the file and cannot be drawn.</h3></section>"]


def pictures(timeline: Timeline) -> list[Pieces]:
    """The pictures of all events of a timeline, in order."""
    return [picture(timeline, scene) for scene in scenes(timeline)]


def title_of(timeline: Timeline) -> str:
    """The settings of a run in one line."""
    run = next((event.data for event in timeline.events if event.kind == "run"), {})
    parts = [str(run.get("scenario", "a run")), str(run.get("model", ""))]
    window, trigger = run.get("context_length"), run.get("trigger")
    if isinstance(window, int) and window > 0:
        begins = (
            f"compression from {trigger / window:.0%}" if isinstance(trigger, int) and trigger else "no compression"
        )
        parts += [f"window {window:,}", begins]
    parts += [f"without {', '.join(map(str, run['without']))}"] if run.get("without") else []
    parts += ["summary as user"] if run.get("summary_role") == "user" else []
    return " · ".join(part for part in parts if part)
