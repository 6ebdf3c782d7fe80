"""A figure that shows itself in a notebook, with the type and the looks that all pictures share."""

from __future__ import annotations

import io
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from course.parts import PARTS
from course.picture import LOOKS as TERMINAL_LOOKS

WIDTH = 12.8  # inches, at 100 dots an inch: 1,280 pixels
STYLE: Any = {
    "font.size": 13,
    "axes.titlesize": 15,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "hatch.linewidth": 0.8,
    "font.family": "DejaVu Sans",
}

# For each part of the window: the terminal's letter, a fill and a hatch. Neighbours differ in grey too.
FILLS = ("#2f4b7c", "#b39ddb", "#7fc8d8", "#ffd54f", "#388e3c", "#f4a582", "#f2f2f2")
HATCHES = ("", "++", "..", "xx", "", "//", "\\\\")
LOOKS = {part: (TERMINAL_LOOKS[part][0], fill, hatch) for part, fill, hatch in zip(PARTS, FILLS, HATCHES, strict=True)}


class Picture(Figure):
    """A figure that needs no display and no state of pyplot; its PNG has the same bytes in every run."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        FigureCanvasAgg(self)

    def png(self) -> bytes:
        """The picture as PNG."""
        stream = io.BytesIO()
        with rc_context(STYLE):
            self.savefig(stream, format="png", metadata={"Software": None})
        return stream.getvalue()

    def _repr_png_(self) -> bytes:
        return self.png()

    def __repr__(self) -> str:
        width, height = (round(inches * self.dpi) for inches in self.get_size_inches())
        return f"<picture, {width} x {height}>"


def new_picture(height: float, rows: int = 1, columns: int = 1) -> tuple[Picture, list[Axes]]:
    """(picture, its axes): 1,280 pixels wide, `height` inches high; axes share their scales."""
    with rc_context(STYLE):
        picture = Picture(figsize=(WIDTH, height), dpi=100, layout="constrained")
        grid = picture.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    return picture, list(grid.flat)
