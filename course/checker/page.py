"""An outcome in a notebook: HTML, with the terminal's text as its other form."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from course.checker.check import Outcome
from course.checker.text import RED_IS_RIGHT, facts, next_step, outcome_text
from course.checker.verdict import DONE, NOT_STARTED, WRONG, Failure, Verdict

_COLOURS = {DONE: "#1a7f37", NOT_STARTED: "#6e7781", WRONG: "#b42318"}
_SIGNS = {DONE: "✓", NOT_STARTED: "○", WRONG: "✗"}


@dataclass(frozen=True, repr=False)
class OutcomePage:
    """What `check("7.2")` shows."""

    outcome: Outcome

    @property
    def is_done(self) -> bool:
        """Whether every exercise of the check is done."""
        return self.outcome.is_done

    def __repr__(self) -> str:
        return notebook_words(outcome_text(self.outcome).rstrip("\n"))

    def _repr_html_(self) -> str:
        parts = [_heading(verdict) + _detail(verdict) for verdict in self.outcome.verdicts]
        if not any(verdict.status == DONE for verdict in self.outcome.verdicts):
            parts.append(f"<p>{escape(RED_IS_RIGHT)}</p>")
        parts.append(f"<p>{escape(notebook_words(next_step(self.outcome)))}</p>")
        return "".join(parts)


@dataclass(frozen=True, repr=False)
class TextPage:
    """A text of the course in a notebook, such as a hint."""

    text: str

    def __repr__(self) -> str:
        return self.text.rstrip("\n")

    def _repr_html_(self) -> str:
        return f"<pre style='white-space:pre-wrap'>{escape(self.text.rstrip())}</pre>"


def notebook_words(text: str) -> str:
    """`text` with the commands of the terminal as they are written in a cell."""
    head, found, rest = text.partition("`course hint ")
    if not found:
        return text
    words, end, rest = rest.partition("`")
    number, _, level = words.partition(" ")
    call = f'hint("{number}", {level})' if level else f'hint("{number}")'
    return f"{head}`{call}`{notebook_words(rest)}" if end else text


def _heading(verdict: Verdict) -> str:
    """One exercise: sign, number, status, place."""
    colour = _COLOURS[verdict.status]
    status = f"<b style='color:{colour}'>{_SIGNS[verdict.status]} {verdict.number} {verdict.status}</b>"
    return f"<p>{status} &nbsp; <code>{escape(f'{verdict.path}:{verdict.line}')}</code> {escape(verdict.owner)}</p>"


def _detail(verdict: Verdict) -> str:
    """What is wrong with one exercise."""
    if verdict.status != WRONG or verdict.failure is None:
        return ""
    failure = verdict.failure
    rows = "".join(
        f"<tr><td style='text-align:left'><b>{escape(name)}</b></td>"
        f"<td style='text-align:left'><code>{escape(value)}</code></td></tr>"
        for name, value in facts(failure)
        if value
    )
    parts = [f"<table>{rows}</table>", _drawing(failure)]
    if failure.printed:
        parts.append(f"<p>Your code printed:</p><pre>{escape(chr(10).join(failure.printed))}</pre>")
    if verdict.misconception:
        parts.append(f"<p><b>This looks like:</b> {escape(verdict.misconception)}</p>")
    place = f"{verdict.path}:{verdict.line}"
    parts.append(f"<p>Next: open <code>{escape(place)}</code>, or <code>hint(&quot;{verdict.number}&quot;)</code></p>")
    return "".join(parts)


def _drawing(failure: Failure) -> str:
    """The message list as a table, the bad spot marked."""
    lines = []
    for row in failure.rows:
        index = "" if row["index"] is None else str(row["index"])
        cells = [index, row["role"], row["text"], f"← {row['note']}" if row["note"] else ""]
        style = " style='background:#fdecea'" if row["note"] else ""
        shown = "".join(f"<td style='text-align:left'>{escape(cell)}</td>" for cell in cells)
        lines.append(f"<tr{style}>{shown}</tr>")
    return f"<table style='font-family:monospace'>{''.join(lines)}</table>" if lines else ""
