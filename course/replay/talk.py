"""The replay file: a run as one HTML page that needs no network, no server and no Python."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from course.replay.picture import picture, title_of
from course.replay.pieces import Pieces, text
from course.replay.scene import Scene, scenes
from course.timeline import Timeline

PAGES = 16  # at most, on paper
EMPTY = '<p class="cc-say">This run is empty: it has no events, so there is nothing to show.</p>'


def write_talk(timeline: Timeline, path: Path) -> Path:
    """The path of the page that was written, whole or not at all; the same run gives the same bytes."""
    page = talk_html(timeline).encode("utf-8")
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(path.name + ".part")
    scratch.write_bytes(page)
    scratch.replace(path)
    return path


def talk_html(timeline: Timeline) -> str:
    """The page of a timeline: pictures, styles and script in one text."""
    shown = list(scenes(timeline))
    drawn = [picture(timeline, scene) for scene in shown]
    moments = [place for place, scene in enumerate(shown) if scene.is_moment]
    data = {**_interned(drawn), "moments": moments, "pages": _pages(shown, moments)}
    return Template(_file("talk.html")).substitute(
        title=text(title_of(timeline)),
        css=style() + _file("talk.css"),
        first="".join(drawn[0]) if drawn else f'<div class="cc-picture">{EMPTY}</div>',
        start=f"event 1 of {len(drawn)}" if drawn else "no events",
        last=max(1, len(drawn)),
        data=in_script(data),
        script=_file("talk.js"),
    )


def style() -> str:
    """The style sheet of the picture."""
    return _file("picture.css")


def in_script(data: Any) -> str:
    """Data as JSON that no text can break out of: `<`, `>` and `&` are written as escapes, everything is ASCII."""
    raw = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return raw.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _interned(drawn: list[Pieces]) -> dict[str, Any]:
    """Each piece once, and the pictures as lists of their numbers."""
    numbers: dict[str, int] = {}
    frames = [[numbers.setdefault(piece, len(numbers)) for piece in pieces] for pieces in drawn]
    return {"pieces": list(numbers), "frames": frames}


def _pages(shown: list[Scene], moments: list[int]) -> list[int]:
    """The events that are printed, one a page: the moments, evenly thinned where they are many, and the last event."""
    chosen = sorted({*moments, len(shown) - 1}) if shown else []
    if len(chosen) <= PAGES:
        return chosen
    return [chosen[round(page * (len(chosen) - 1) / (PAGES - 1))] for page in range(PAGES)]


def _file(name: str) -> str:
    """The text of a file of this package."""
    return files("course.replay").joinpath(name).read_text(encoding="utf-8")
