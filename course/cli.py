"""The command line: `course demo`, `course replay`, `course serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from course.conform import commands
from course.demo import DemoError, DemoSettings, run_demo
from course.endpoint import NoKeyError
from course.grader.command import grade
from course.guards import GUARDS
from course.guards import table as guard_table
from course.learning import add_commands
from course.own import UnsolvedError, own_chapters
from course.provider import PortInUseError, serve
from course.provider.server import KEY
from course.scenarios import SCENARIOS, ScenarioError
from course.survey import SurveySettings, WindowTooSmallError
from course.timeline import Timeline, TimelineError, read_timeline
from course.views import Lines, LivePicture, View, browse, make_console, print_result
from reference.ch03_sessions import SessionStoreError

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    help="A course on agents that outlive their context window.",
)
# Errors whose text is the sentence for the user.
SENTENCES = (DemoError, NoKeyError, ScenarioError, SessionStoreError, WindowTooSmallError)
add_commands(app)
app.command()(commands.conform)
app.command()(commands.bench)
app.command("grade")(grade)
FOR_HELP = f"Guards, and what goes wrong without them:\n\n{guard_table()}"


@app.callback()
def course() -> None:
    """Learn context compression: from a bare agent loop to one that keeps working when its window runs out."""


@app.command(epilog=FOR_HELP)
def demo(
    path: Annotated[Path | None, typer.Option(help="A folder to survey instead of the made corpus.")] = None,
    report: Annotated[Path, typer.Option(help="Where the report is written.")] = Path("course-demo/report.md"),
    window: Annotated[int | None, typer.Option(min=1, help="The context window in tokens; 8192 unless given.")] = None,
    threshold: Annotated[float, typer.Option(help="Compress from this share of the window on.")] = 0.50,
    without: Annotated[
        list[str] | None, typer.Option(help=f"Switch a guard off: {', '.join(GUARDS)}. Can be given again.")
    ] = None,
    summary_role: Annotated[str, typer.Option(help="The role of the summary: assistant or user.")] = "assistant",
    scenario: Annotated[str, typer.Option(help=f"What is asked: {', '.join(SCENARIOS)}.")] = "survey",
    seed: Annotated[int, typer.Option(help="The seed of the made corpus and of the brief.")] = 7,
    max_calls: Annotated[int | None, typer.Option(min=1, help="The agent's limit of model calls.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the run as a timeline, for `course replay`.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with the last session, for example after Ctrl-C.")] = False,
    step: Annotated[bool, typer.Option(help="Wait for a key after each step.")] = False,
    plain: Annotated[bool, typer.Option(help="One line an event, no colour; two runs give the same bytes.")] = False,
    live: Annotated[bool, typer.Option(help="Use a real endpoint: OPENAI_API_KEY, OPENAI_BASE_URL, MODEL.")] = False,
) -> None:
    """Survey a folder in a window that is too small for it, and finish."""
    off = frozenset(name.strip() for names in without or () for name in names.split(",") if name.strip())
    _check_choice("guard", off, GUARDS)
    _check_choice("scenario", {scenario}, SCENARIOS)
    _check_choice("role for a summary", {summary_role}, ("assistant", "user"))
    if not 0 < threshold < 1:
        _fail(f"A threshold is a share between 0 and 1, such as 0.5; found {threshold}.", code=2)
    survey = SurveySettings(threshold, off, summary_role, scenario, seed, max_calls)
    settings = DemoSettings(path, report, report.parent / "sessions.db", window, survey, live, resume, save)
    console = make_console(plain)
    try:
        run_demo(settings, console, _view(console, plain, step))
    except SENTENCES as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail("Interrupted before the run began.", code=130)


@app.command()
def agent(
    mine: Annotated[bool, typer.Option(help="Build it from your own modules in chapters/ only.")] = False,
    path: Annotated[Path | None, typer.Option(help="A folder to survey instead of the made corpus.")] = None,
    window: Annotated[int | None, typer.Option(min=1, help="The context window in tokens; 8192 unless given.")] = None,
    plain: Annotated[bool, typer.Option(help="One line an event, no colour.")] = False,
) -> None:
    """Run the survey with the agent of the course, or with your own: no module of the reference stands in for yours."""
    console = make_console(plain)
    try:
        chapters = own_chapters(console) if mine else None
        settings = DemoSettings(path, window=window, survey=SurveySettings(chapters=chapters))
        run_demo(settings, console, _view(console, plain, step=False))
    except (*SENTENCES, UnsolvedError) as error:
        _fail(str(error))
    except KeyboardInterrupt:
        _fail("Interrupted before the run began.", code=130)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A timeline that `course demo --save` wrote.")],
    step: Annotated[bool, typer.Option(help="Walk through it with keys: n, p, space, q.")] = False,
    plain: Annotated[bool, typer.Option(help="One line an event, no colour.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write it as one HTML file for a talk or a hand-out.")] = None,
    png: Annotated[
        Path | None, typer.Option(help="Write its pictures into a folder, or its window into FILE.png.")
    ] = None,
) -> None:
    """Show a saved run again: the same lines and the same picture, without running anything."""
    console = make_console(plain)
    try:
        timeline = read_timeline(file)
        if html or png:
            _write_pictures(timeline, html, png, console)
            return
    except TimelineError as error:
        _fail(str(error))
    if step:
        browse(timeline, console)
        return
    view = Lines(console)
    for event in timeline.events:
        view(timeline, event)
    print_result(timeline, console)


def _write_pictures(timeline: Timeline, html: Path | None, png: Path | None, console: Console) -> None:
    """Write a run as a page, as pictures, or both, and name what was written."""
    from course.replay import write_pngs, write_talk  # they draw: half a second to import

    try:
        written = [write_talk(timeline, html)] if html else []
        written += write_pngs(timeline, png) if png else []
    except OSError as error:
        _fail(f"{error.filename} cannot be written: {error.strerror or error}. Choose another place.")
    for path in written:
        console.print(f"{path} is written.", markup=False)


@app.command("notebooks")
def notebooks_command(
    files: Annotated[list[str] | None, typer.Argument(help="Paths or stems; all without them.")] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when a text differs.")] = False,
    solved: Annotated[bool, typer.Option("--solved", help="Write nothing; run with everything solved.")] = False,
) -> None:
    """Execute the notebooks, for authors: write their outputs, or compare them."""
    from course.notebooks import run

    raise typer.Exit(min(1, run(files or (), "current" if check else "solved" if solved else "written")))


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


def _view(console: Console, plain: bool, step: bool) -> View:
    """The live picture on a terminal, else one line an event."""
    if plain or not console.is_terminal:
        return Lines(console)
    return LivePicture(console, step)


def _check_choice(what: str, found: set[str] | frozenset[str], known: object) -> None:
    """Fail with the known names when a name is not one of them."""
    names = list(known)  # type: ignore[call-overload]
    if unknown := set(found).difference(names):
        _fail(f"There is no {what} {', '.join(sorted(unknown))}. There is: {', '.join(names)}.", code=2)


def _fail(sentence: str, code: int = 1) -> None:
    """Print one sentence to the error stream and end with a non-zero code."""
    Console(stderr=True, highlight=False, soft_wrap=True).print(sentence, markup=False, style="red")
    raise typer.Exit(code)


def main() -> None:
    """Run the command line."""
    app()
