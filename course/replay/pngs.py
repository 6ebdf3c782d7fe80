"""The pictures of a run as PNG files, for slides."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from course.plots import Picture, strips, tokens_over_calls, window_over_calls
from course.replay.scene import DAMAGED, Scene, scenes
from course.timeline import Timeline, TimelineError


def write_pngs(timeline: Timeline, target: Path) -> list[Path]:
    """The paths that were written: window.png, tokens.png and, with a compression, strip.png in the folder `target`.

    Where `target` ends with .png it is one file: the window over the calls. A damaged run raises TimelineError.
    """
    try:
        return _written(timeline, target)
    except DAMAGED:
        raise TimelineError("This run is damaged in the file: its pictures cannot be drawn. Save it again.") from None


def _written(timeline: Timeline, target: Path) -> list[Path]:
    if target.suffix.lower() == ".png":
        target.parent.mkdir(parents=True, exist_ok=True)
        return [_write(target, window_over_calls(timeline))]
    target.mkdir(parents=True, exist_ok=True)
    return [_write(target / name, draw(timeline)) for name, draw in _drawings(timeline)]


def _write(path: Path, picture: Picture) -> Path:
    path.write_bytes(picture.png())
    return path


def _drawings(timeline: Timeline) -> Iterator[tuple[str, Callable[[Timeline], Picture]]]:
    """(file name, function that draws it) for each picture that a timeline has."""
    yield "window.png", window_over_calls
    yield "tokens.png", tokens_over_calls
    first = next((scene for scene in scenes(timeline) if scene.after is not None and scene.cuts), None)
    if first is not None:
        yield "strip.png", lambda timeline: _strip(timeline, first)


def _strip(timeline: Timeline, scene: Scene) -> Picture:
    """The history before and after a compression."""
    before = [timeline.messages[one] for one in scene.history]
    after = [timeline.messages[one] for one in scene.after or ()]
    return strips(before, after, titles=("before", "after"), cut=scene.cuts.cut if scene.cuts else None)
