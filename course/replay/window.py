"""The context window as HTML: a bar by part, its limit and its trigger, the cached prefix as a ruler below it."""

from __future__ import annotations

from course.frame import Frame
from course.parts import PARTS
from course.plots.figure import LOOKS
from course.replay.pieces import Pieces, part_fill, share
from course.replay.scene import Scene

ROOM_FOR_LETTER = 0.024  # of the bar


def window_panel(scene: Scene) -> Pieces:
    """The window of a scene: the sum in words, the bar, its scale, the cached prefix, and what each letter holds."""
    frame = scene.frame
    window = frame.run.get("context_length") or 0
    width = max(window, frame.prompt_tokens) or 1
    over = ": more than it holds" if frame.prompt_tokens > window else ""
    place = f", in request {scene.call}" if scene.call else ""
    return [
        '<section class="cc-window"><h3>Context window: ',
        f"{frame.prompt_tokens:,} of {window:,} tokens{over}{place}</h3>",
        *_bar(frame, width, window),
        *_scale(frame.run.get("trigger") or 0, window, width),
        *_ruler(scene, width),
        *_legend(frame),
        "</section>",
    ]


def _bar(frame: Frame, width: int, window: int) -> Pieces:
    """The bar itself, with the trigger as a broken line and the window's end as a solid one."""
    pieces = ['<div class="cc-bar">']
    for part in PARTS:
        tokens = frame.parts[part]
        if tokens:
            letter = f"<b>{LOOKS[part][0]}</b>" if tokens > ROOM_FOR_LETTER * width else ""
            pieces.append(f'<i style="width:{share(tokens, width)};background:{part_fill(part)}">{letter}</i>')
    if trigger := frame.run.get("trigger"):
        pieces.append(f'<u class="cc-trigger" style="left:{share(trigger, width)}"></u>')
    pieces += [f'<u class="cc-limit" style="left:{share(window, width)}"></u>', "</div>"]
    return pieces


def _scale(trigger: int, window: int, width: int) -> Pieces:
    """The names of the two lines, each beside its place."""
    pieces = ['<div class="cc-scale">']
    if 0 < trigger < window:
        if trigger <= 0.45 * width:
            pieces.append(f'<span style="left:{share(trigger, width)}">&#9650; trigger {trigger:,}</span>')
        else:
            pieces.append(f'<span style="right:{share(width - trigger, width)}">trigger {trigger:,} &#9650;</span>')
    return [*pieces, f'<span style="right:{share(width - window, width)}">window {window:,} &#9650;</span></div>']


def _ruler(scene: Scene, width: int) -> Pieces:
    """How much of the last prompt was cached: a ruler from the bar's left edge."""
    cached = scene.cached
    if cached is None:
        words = "cached: known when the answer is there" if scene.call else "cached: nothing sent yet"
    else:
        words = f"cached prefix {cached:,} tokens" if cached else "cached prefix: none, every token is paid for in full"
    ruler = f'<i style="width:{share(cached, width)}"></i>' if cached else ""
    return ['<div class="cc-ruler">', ruler, f"<span>{words}</span></div>"]


def _legend(frame: Frame) -> Pieces:
    """Each part that is there, with its letter, its look and its tokens."""
    pieces = ['<p class="cc-legend">']
    for part in PARTS:
        if tokens := frame.parts[part]:
            look = f'<i style="background:{part_fill(part)}"><b>{LOOKS[part][0]}</b></i>'
            pieces += [f"<span>{look} {part} ", f"{tokens:,}</span> "]
    return [*pieces, "</p>"]
