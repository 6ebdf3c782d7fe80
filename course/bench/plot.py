"""The bench as a picture: time and peak memory over size, a line for each subject, a row of plots for each shape."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course.bench.peers import NAMES

if TYPE_CHECKING:
    from course.bench.app import Row

MARKS = dict(zip(NAMES, "vosD^", strict=True))  # told apart without colour too
PANELS = (("seconds", "time, seconds"), ("peak_mb", "peak memory, MB"))


def draw(rows: Sequence[Row], path: Path) -> None:
    """Write the picture; the form follows from the file's ending (png, svg, pdf)."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    shapes = list(dict.fromkeys(row.shape for row in rows))
    figure = Figure(figsize=(11, 3.6 * len(shapes)), layout="constrained")
    FigureCanvasAgg(figure)
    grid: Any = figure.subplots(len(shapes), len(PANELS), squeeze=False)
    for axes, shape in zip(grid, shapes, strict=True):
        for panel, (key, label) in zip(axes, PANELS, strict=True):
            for row in rows:
                points = [(size, cell[key]) for size, cell in row.cells.items() if cell.get(key) and row.shape == shape]
                if points:
                    panel.plot(*zip(*points, strict=True), marker=MARKS[row.subject], label=NAMES[row.subject])
            panel.set(xscale="log", yscale="log", xlabel="messages", ylabel=label, title=shape)
            panel.grid(alpha=0.3)
    figure.legend(*grid[0][0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
    figure.savefig(path)
