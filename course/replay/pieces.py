"""Pieces of HTML: what a picture is made of. Texts from a run are escaped here and nowhere else."""

from __future__ import annotations

import html

from course.plots.figure import LOOKS

Pieces = list[str]
HATCHES = {
    "": "",
    "//": "repeating-linear-gradient(-45deg,#0006 0 1.5px,transparent 1.5px 7px)",
    "\\\\": "repeating-linear-gradient(45deg,#0006 0 1.5px,transparent 1.5px 7px)",
    "++": "repeating-linear-gradient(0deg,#0005 0 1px,transparent 1px 7px),"
    "repeating-linear-gradient(90deg,#0005 0 1px,transparent 1px 7px)",
    "xx": "repeating-linear-gradient(45deg,#0006 0 1px,transparent 1px 7px),"
    "repeating-linear-gradient(-45deg,#0006 0 1px,transparent 1px 7px)",
    "..": "radial-gradient(#0008 1.2px,transparent 1.6px) 0 0/7px 7px",
}


def text(value: object) -> str:
    """A text from a run as HTML: nothing in it is markup, and what no page may hold is replaced."""
    clean = str(value).encode("utf-8", "replace").decode("utf-8")
    return html.escape("".join(one if one >= " " or one in "\n\t" else "\ufffd" for one in clean))


def fill(colour: str, hatch: str) -> str:
    """A colour with a hatch as the value of the CSS property `background`."""
    return ",".join(part for part in (HATCHES[hatch], colour) if part)


def part_fill(part: str) -> str:
    """The background of a part of the window, as every picture shows it."""
    _, colour, hatch = LOOKS[part]
    return fill(colour, hatch)


def share(tokens: float, of: float) -> str:
    """Tokens as a percentage of a width, for CSS."""
    return f"{max(0.0, min(100.0, 100 * tokens / (of or 1))):.2f}%"
