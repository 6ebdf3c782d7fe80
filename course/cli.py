"""The command line: `course demo`, `course serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from course.demo import DemoError, DemoSettings, run_demo
from course.provider import PortInUseError, serve
from course.provider.server import KEY
from course.survey import SurveySettings, WindowTooSmallError

GUARDS = ("task-state",)

app = typer.Typer(no_args_is_help=True, add_completion=False, help="A course on agents that outlive their window.")


@app.callback()
def course() -> None:
    """Learn context compression: from a bare agent loop to one that keeps working when its window runs out."""


@app.command()
def demo(
    path: Annotated[Path | None, typer.Option(help="A folder to survey instead of the made corpus.")] = None,
    report: Annotated[Path, typer.Option(help="Where the report is written.")] = Path("course-demo/report.md"),
    window: Annotated[int | None, typer.Option(min=1, help="The context window in tokens; 8192 unless given.")] = None,
    threshold: Annotated[float, typer.Option(help="Compress from this share of the window on.")] = 0.50,
    without: Annotated[list[str] | None, typer.Option(help=f"Switch a guard off: {', '.join(GUARDS)}.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help="The agent's limit of model calls.")] = None,
    plain: Annotated[bool, typer.Option(help="No colour; two runs give the same bytes.")] = False,
    live: Annotated[bool, typer.Option(help="Use a real endpoint: OPENAI_API_KEY, OPENAI_BASE_URL, MODEL.")] = False,
) -> None:
    """Survey a folder in a window that is too small for it, and finish."""
    off = set(without or ())
    if unknown := off.difference(GUARDS):
        _fail(f"There is no guard {', '.join(sorted(unknown))}. The guards are: {', '.join(GUARDS)}.", code=2)
    if not 0 < threshold < 1:
        _fail(f"A threshold is a share between 0 and 1, such as 0.5; found {threshold}.", code=2)
    survey = SurveySettings(threshold, task_state="task-state" not in off, max_iterations=max_calls)
    try:
        run_demo(DemoSettings(path, report, window, survey, live, plain))
    except (DemoError, WindowTooSmallError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail("Interrupted before the run began.", code=130)


@app.command("serve")
def serve_command(
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="The port on loopback; 0 lets the system choose.")
    ] = 8_321,
    key: Annotated[str, typer.Option(help="The API key that clients must send.")] = KEY,
    lax: Annotated[bool, typer.Option(help="Take two messages of one role in a row, as some providers do.")] = False,
) -> None:
    """Serve the strict provider for any client, until Ctrl-C."""
    try:
        serve(port, key=key, strict_alternation=not lax)
    except PortInUseError as error:
        _fail(str(error))


def _fail(sentence: str, code: int = 1) -> None:
    """Print one sentence to the error stream and end with a non-zero code."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(sentence, markup=False, style="red")
    raise typer.Exit(code)


def main() -> None:
    """Run the command line."""
    app()
