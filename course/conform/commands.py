"""`course conform` and `course bench` as the command line takes them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from course.bench.app import MANY, SIZES
from course.bench.app import bench as run_bench
from course.conform.app import conform as run_conform

SIZES_TEXT = ",".join(map(str, SIZES))


def conform(
    cases: Annotated[list[Path] | None, typer.Argument(help="Files of field cases, one JSON object a line.")] = None,
    traces: Annotated[Path | None, typer.Option(help="A folder of recorded transcripts (*.json).")] = None,
) -> None:
    """Run reported faults and recorded transcripts against the reference; exit 1 when one fails."""
    raise typer.Exit(run_conform(cases or (), traces, out=typer.echo))


def bench(
    what: Annotated[str, typer.Argument(help="What is measured: compress.")] = "compress",
    peers: Annotated[Path | None, typer.Option(help="A folder with an environment for each other library.")] = None,
    sizes: Annotated[str, typer.Option(help="Numbers of messages.")] = SIZES_TEXT,
    traces: Annotated[Path | None, typer.Option(help="A folder of recorded transcripts (*.json).")] = None,
    plot: Annotated[Path | None, typer.Option(help="Where to draw time and memory (png, svg, pdf).")] = None,
    save: Annotated[Path | None, typer.Option(help="Where to write the measurements (JSON).")] = None,
    many: Annotated[int, typer.Option(min=1, help="Small histories of a shape whose results are judged.")] = MANY,
) -> None:
    """Measure time, memory and results of compressing, beside the floor and other libraries."""
    if what != "compress":
        typer.echo(f"There is nothing to measure under {what!r}. Choose: compress.", err=True)
        raise typer.Exit(2)
    try:
        numbers = [int(size) for size in sizes.split(",")]
    except ValueError:
        typer.echo(f"Sizes are whole numbers with commas between, such as {SIZES_TEXT}; found {sizes!r}.", err=True)
        raise typer.Exit(2) from None
    raise typer.Exit(run_bench(peers, numbers, traces, plot, save, many, out=typer.echo))
