"""What the notebooks of part II try out, beside `course.lab`: your chapter in the survey, requests in a row, charts.

survey_by_mine("ch06")           the survey with your own chapter 6 among the others
exchanges(first, second)         what a strict provider counts for requests that follow each other
grid(["kind", "tokens"], rows)   rows under headings, as text
bars(values), curves(series)     charts that can be read without colour
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import openai
from matplotlib import rc_context
from matplotlib.ticker import MaxNLocator

from course.checker.check import check_project
from course.checker.notebook import mine
from course.checker.project import find_project
from course.checker.verdict import DONE, NOT_STARTED
from course.lab import survey
from course.plots.figure import STYLE, Picture, new_picture
from course.provider import Exchange, Model, Provider
from course.timeline import Timeline
from reference.ch01_agent_loop import to_wire
from reference.messages import Message

LINES = [("-", "o"), ("--", "s"), (":", "^"), ("-.", "D"), ("-", "x")]

# Your own chapter in the survey


def unsolved(chapter: str) -> str:
    """A sentence that names the exercises of a chapter, such as "ch06", that are not done; "" when all are."""
    verdicts = check_project(find_project(), chapter).verdicts
    left = [verdict for verdict in verdicts if verdict.status != DONE]
    if not left:
        return ""
    numbers = ", ".join(verdict.number for verdict in left)
    state = "not started" if all(verdict.status == NOT_STARTED for verdict in left) else "not done yet"
    subject = f"exercises {numbers} are" if len(left) > 1 else f"exercise {numbers} is"
    return f"{left[0].path}: {subject} {state}. Once `check` says done, this cell shows what your code does."


def survey_by_mine(chapter: str, without: Collection[str] | str = (), **settings: Any) -> Timeline | None:
    """The survey with all that your file of a chapter defines; None, and a sentence, while it is not solved.

    `without` and `settings` are those of `course.lab.survey`.
    """
    if sentence := unsolved(chapter):
        print(sentence)
        return None
    return survey(without, using=own_names(mine(chapter)), **settings)


def own_names(module: ModuleType) -> dict[str, Any]:
    """What a learner's chapter defines itself under a name that the reference's chapter has too, by that name."""
    there = vars(import_module(f"reference.{Path(str(module.__file__)).stem}"))
    return {name: value for name, value in vars(module).items() if name in there and _is_own(name, value, module)}


def _is_own(name: str, value: Any, module: ModuleType) -> bool:
    """Whether a module defines a name itself: a function, a class, or a constant."""
    return name.isupper() or getattr(value, "__module__", None) == module.__name__


# A strict provider


def exchanges(
    *requests: Sequence[Message], tools: Sequence[Message] = (), window: int = 1_000_000, **settings: Any
) -> list[Exchange]:
    """The log of a strict provider that got these lists of messages one after the other, refusals included.

    Each exchange has `status`, `prompt_tokens`, `cached_tokens` and `error`. `settings` are those of `Provider`.
    """
    reply = {"role": "assistant", "content": "I see."}
    with Provider([Model("m", window, lambda body: reply)], **settings) as provider, provider.client() as client:
        for messages in requests:
            body: Any = {"messages": to_wire(messages)} | ({"tools": list(tools)} if tools else {})
            with suppress(openai.APIStatusError):  # it stands in the log, in the provider's own words
                client.chat.completions.create(model="m", **body)
    return list(provider.log)


# Tables


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


# Charts


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
