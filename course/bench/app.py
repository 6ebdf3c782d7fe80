"""What `course bench compress` measures, prints and draws."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from course.bench.histories import MIN_RECORDED, read_transcripts
from course.bench.judge import BAD, judged, share
from course.bench.peers import NAMES, Subject, find_subjects, run_job

Print = Callable[[str], None]
Run = Callable[..., Any]

SIZES = (100, 1_000, 10_000, 100_000)
MANY = 100  # small histories of a shape, to see how often a result is bad
TOO_LONG = 60.0  # seconds: a size that is likely to take longer is not tried


@dataclass
class Row:
    """A subject on one shape: a measurement for each size, and the verdicts on many small histories."""

    subject: str
    shape: str
    cells: dict[int, dict[str, Any]] = field(default_factory=dict)
    shares: dict[str, float] = field(default_factory=dict)

    @property
    def exponent(self) -> float | None:
        """How time grows with size, from 1,000 messages on: 1 is in proportion, 2 is quadratic."""
        points = [(size, cell["seconds"]) for size, cell in self.cells.items() if "seconds" in cell]
        return growth([(size, seconds) for size, seconds in points if size >= 1_000])


def growth(points: Sequence[tuple[int, float]]) -> float | None:
    """The slope of the line through the points in a double logarithmic plot; None for fewer than two."""
    if len(points) < 2:
        return None
    xs, ys = [math.log(size) for size, _ in points], [math.log(seconds) for _, seconds in points]
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def bench(
    peers: Path | None = None,
    sizes: Sequence[int] = SIZES,
    traces: Path | None = None,
    plot: Path | None = None,
    save: Path | None = None,
    many: int = MANY,
    out: Print = print,
    run: Run = run_job,
) -> int:
    """The exit code of `course bench compress`: 1 when a result of ours is bad, 2 for sizes that are none, else 0.

    `run(subject, **job)` makes one measurement, in a process of its own unless another way is given.
    """
    if not sizes or min(sizes) < 4:
        out("A size is a number of messages, at least 4.")
        return 2
    # Absolute, since a measurement runs in a folder of its own; not resolved, since an environment's python is a link.
    subjects, missing = find_subjects(peers.absolute() if peers else None)
    traces = traces.absolute() if traces else None
    has_recorded = bool(read_transcripts(traces))
    if traces and not has_recorded:
        missing.append(f"The recorded shape is left out: no transcript of {MIN_RECORDED} messages or more in {traces}.")
    for sentence in missing:
        out(sentence)
    shapes = ["turns", "one turn", *(["recorded"] if has_recorded else [])]
    rows = [_row(subject, shape, sorted(sizes), traces, many, out, run) for shape in shapes for subject in subjects]
    for line in table(rows):
        out(line)
    if save:
        save.write_text(json.dumps([asdict(row) for row in rows], indent=1), encoding="utf-8")
    if plot:
        from course.bench.plot import draw

        draw(rows, plot)
        out(f"The plot is in {plot}.")
    return int(any(row.subject == "ours" and any(row.shares.get(what) for what in BAD) for row in rows))


def _row(
    subject: Subject, shape: str, sizes: Sequence[int], traces: Path | None, many: int, out: Print, run: Run
) -> Row:
    """The measurements of a subject on one shape."""
    row, last = Row(subject.name, shape), 0.0
    where = {"shape": shape, "traces": str(traces)}
    for size in sizes:
        if last * 10 > TOO_LONG:
            row.cells[size] = {"error": f"left out: it would take more than {TOO_LONG:.0f} s"}
            continue
        cell = run(subject, size=size, **where)
        if "seconds" in cell:
            last = cell["seconds"]
            cell["verdict"] = judged(cell)
        cell.pop("result", None)
        row.cells[size] = cell
        out(f"measured: {NAMES[subject.name]}, {shape}, {size:,} messages")
    if subject.name != "floor":
        found = run(subject, many=many, **where)
        results = found if isinstance(found, list) else [found]
        row.shares = {what: share(results, what) for what in BAD}
    return row


def table(rows: Sequence[Row]) -> list[str]:
    """The rows as lines of text, a block for each shape."""
    lines: list[str] = []
    for shape in dict.fromkeys(row.shape for row in rows):
        block = [row for row in rows if row.shape == shape]
        floor = next((row for row in block if row.subject == "floor"), None)
        lines += ["", f"Shape: {shape}"]
        lines.append(
            f"{'':38}{'messages':>9}{'time':>11}{'× floor':>9}{'peak':>10}{'tokens before':>15}{'kept':>9}  result"
        )
        for row in block:
            lines += [_line(row, size, cell, floor) for size, cell in row.cells.items()]
            lines.append(_summary_line(row))
    return lines


def _line(row: Row, size: int, cell: dict[str, Any], floor: Row | None) -> str:
    """One measurement."""
    start = f"{NAMES[row.subject]:38}{size:>9,}"
    if "seconds" not in cell:
        return f"{start}  {cell.get('error', 'no result')}"
    base = floor.cells[size].get("seconds") if floor else None
    times = f"{cell['seconds'] / base:.1f}" if base else ""
    line = f"{start}{cell['seconds'] * 1e3:>8,.1f} ms{times:>9}{cell['peak_mb']:>7,.1f} MB"
    if row.subject == "floor":
        return line
    return f"{line}{cell['before']:>15,}{cell['after']:>9,}  {cell['verdict']}"


def _summary_line(row: Row) -> str:
    """The growth exponent and the shares of bad results."""
    exponent = f"{row.exponent:.2f}" if row.exponent is not None else "-"
    shares = ", ".join(f"{value:.0%} {what}" for what, value in row.shares.items())
    return f"{'':38}growth exponent {exponent}" + (f"; of many histories: {shares}" if shares else "")
