"""The learner's commands: `check`, `status`, `hint`, `show`, `diff`, `reset`, `doctor`, and `stubs` for authors."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, NoReturn, TypeVar

import typer

from course.checker.check import check_project
from course.checker.hints import hint_text
from course.checker.project import CheckError, find_project
from course.checker.runner import TIME_LIMIT
from course.checker.text import outcome_text, status_text, to_ascii
from course.checker.views import diff_text, reset, show_text
from course.stubs import StubError, stale_stubs, write_stubs

T = TypeVar("T")

Exercise = Annotated[str, typer.Argument(help="An exercise, such as 7.2.")]
Number = Annotated[str, typer.Argument(help="A chapter, such as 7.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Also the traceback, into the tests.")]
Limit = Annotated[float, typer.Option(min=0.1, help="Seconds that one test may take.")]


def check(
    what: Annotated[
        str | None, typer.Argument(help="A chapter (7) or an exercise (7.2); everything if left out.")
    ] = None,
    verbose: Verbose = False,
    time_limit: Limit = TIME_LIMIT,
) -> None:
    """Test what you wrote in chapters/ and say what is done, what is open and what is wrong."""
    outcome = _tried(lambda: check_project(find_project(), what, time_limit))
    say(outcome_text(outcome, verbose))
    raise typer.Exit(0 if outcome.is_done else 1)


def status() -> None:
    """List every exercise with its status, and the next one."""
    say(status_text(_tried(lambda: check_project(find_project()))))


def hint(
    exercise: Exercise, level: Annotated[int, typer.Argument(help="1, 2 or 3; the last is nearly code.")] = 1
) -> None:
    """Give a hint for an exercise."""
    say(_tried(lambda: hint_text(find_project(), exercise, level)))


def show(
    exercise: Exercise, solution: Annotated[bool, typer.Option(help="Also how the course solves it.")] = False
) -> None:
    """Print the beginning of an exercise's function: its signature and its contract."""
    say(_tried(lambda: show_text(find_project(), exercise, solution)))


def diff(chapter: Number) -> None:
    """Show how your file differs from the solved one; this gives the solution away."""
    project = _tried(find_project)
    say(_tried(lambda: diff_text(project, project.find_chapter(chapter))) + "\n")


def reset_command(chapter: Number) -> None:
    """Make a chapter's file a stub again; what you wrote is kept under a name with the date."""
    project = _tried(find_project)
    path, copy = _tried(lambda: reset(project, project.find_chapter(chapter), datetime.now()))
    kept = f" What you wrote is in {project.shown(copy)}." if copy else ""
    say(f"{project.shown(path)} is a stub again.{kept}\n")


def doctor() -> None:
    """Examine this machine: Python, packages, files, the provider, Jupyter, the terminal."""
    from course.checker.doctor import examine, is_well, report_text

    findings = list(examine(_tried(find_project), sys.stdout))
    say(report_text(findings))
    raise typer.Exit(0 if is_well(findings) else 1)


def stubs(
    check: Annotated[bool, typer.Option("--check", help="Write nothing; fail when a stub is not current.")] = False,
) -> None:
    """Write chapters/ anew from reference/, for authors; a file in which somebody wrote is never overwritten."""
    project = _tried(find_project)
    reference, chapters = project.root / "reference", project.chapters
    if check:
        problems = _tried(lambda: stale_stubs(reference, chapters))
        say("".join(f"{problem}\n" for problem in problems) or "Every stub is current.\n")
        raise typer.Exit(1 if problems else 0)
    names = _tried(lambda: write_stubs(reference, chapters))
    say(f"Written: {', '.join(names)}\n" if names else "Every stub is current.\n")


COMMANDS: dict[str, Callable[..., None]] = {
    "check": check,
    "status": status,
    "hint": hint,
    "show": show,
    "diff": diff,
    "reset": reset_command,
    "doctor": doctor,
    "stubs": stubs,
}


def add_commands(app: typer.Typer) -> None:
    """Add the learner's commands to a command line."""
    for name, command in COMMANDS.items():
        app.command(name)(command)


def say(text: str) -> None:
    """Print a text; in ASCII where the terminal has no UTF-8. What cannot be encoded at all is escaped."""
    encoding = (getattr(sys.stdout, "encoding", None) or "ascii").lower().replace("-", "").replace("_", "")
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    typer.echo(text if encoding == "utf8" else to_ascii(text), nl=False)


def _tried(action: Callable[[], T]) -> T:
    """What an action returns; an error that it foresees is one sentence and a code that is not zero."""
    try:
        return action()
    except (CheckError, StubError) as error:
        _fail(str(error))


def _fail(sentence: str) -> NoReturn:
    """Print one sentence to the error stream and end."""
    typer.echo(to_ascii(sentence), err=True)
    raise typer.Exit(2)


def make_app() -> typer.Typer:
    """The learner's commands alone."""
    app = typer.Typer(no_args_is_help=True, add_completion=False)
    add_commands(app)
    return app
