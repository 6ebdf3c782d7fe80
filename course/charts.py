"""Tables and charts for notebooks, which can be read without colour.

grid(["kind", "tokens"], rows)   rows under headings, as text
bars(values), curves(series)     pictures
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib import rc_context
from matplotlib.ticker import MaxNLocator

from course.plots.figure import STYLE, Picture, new_picture

LINES = [("-", "o"), ("--", "s"), (":", "^"), ("-.", "D"), ("-", "x")]


def grid(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows under headings as text; a column of numbers stands right, one with words left."""
    values = [list(row) for row in rows]
    cells = [list(headings), *([_cell(value) for value in row] for row in values)]
    right = [all(_is_number(row[place]) for row in values) for place in range(len(headings))]
    widths = [max(len(row[place]) for row in cells) for place in range(len(headings))]
    cells.insert(1, ["-" * width for width in widths])
    lines = ([c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)] for row in cells)
    return "\n".join("  ".join(line).rstrip() for line in lines)


def _cell(value: Any) -> str:
    """A value as it stands in a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}" if isinstance(value, float) else str(value)


def _is_number(value: Any) -> bool:
    """Whether a value is a number, or nothing."""
    return value == "" or (isinstance(value, int | float) and not isinstance(value, bool))


def bars(
    values: Mapping[str, float], title: str, unit: str, *, line: float | None = None, form: str = "{:,.0f}"
) -> Picture:
    """A picture with one horizontal bar a value, its number beside it; `line` is a value that all are held against."""
    picture, (axes,) = new_picture(1.2 + 0.45 * len(values))
    with rc_context(STYLE):
        drawn = axes.barh(list(values), list(values.values()), color="#bdbdbd", edgecolor="black")
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5}
        axes.bar_label(drawn, [form.format(value) for value in values.values()], padding=6, bbox=box, zorder=3)
        if line is not None:
            axes.axvline(line, color="black", linestyle="--")
        axes.invert_yaxis()
        axes.margins(x=0.12)
        axes.xaxis.set_major_formatter(_plain)
        axes.set(title=title, xlabel=unit)
    return picture


def curves(
    series: Mapping[str, Sequence[float]],
    title: str,
    x: str,
    y: str,
    *,
    line: float | None = None,
    at: Sequence[float] = (),
) -> Picture:
    """A picture with one curve a series, told apart by line and mark; `line` is a value across, such as the trigger.

    `at` are the places of the values, 1, 2, 3 ... unless given.
    """
    picture, (axes,) = new_picture(5.0)
    with rc_context(STYLE):
        for number, ((name, values), (style, mark)) in enumerate(zip(series.items(), LINES, strict=False)):
            places = list(at) or range(1, len(values) + 1)
            every = max(1, len(values) // 25)
            look: dict[str, Any] = {"linestyle": style, "marker": mark, "markevery": every, "color": str(number * 0.18)}
            axes.plot(places, values, label=name, markersize=7, **look)
        if line is not None:
            axes.axhline(line, color="black", linewidth=1, linestyle=(0, (6, 4)))
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.xaxis.set_major_formatter(_plain)
        axes.yaxis.set_major_formatter(_plain)
        axes.set(title=title, xlabel=x, ylabel=y)
        picture.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=13, handlelength=3.2)
    return picture


def _plain(value: float, _: float) -> str:
    """A number on an axis: 10,000, or 0.5."""
    return f"{value:,.0f}" if value == int(value) else f"{value:g}"
