"""`course grade`: a folder of submissions, two at a time, into a table."""

from __future__ import annotations

import dataclasses
import sys
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from pathlib import Path
from queue import SimpleQueue
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from course.checker.project import CheckError, find_project
from course.checker.runner import TIME_LIMIT
from course.grader.baseline import course_digest
from course.grader.judging import WHOLE_LIMIT, GraderError, Judge, find_baseline
from course.grader.limits import powers, warning
from course.grader.results import Result, ResultsError, known_rows, read_results, read_screens, write_csv, write_json
from course.grader.submissions import Submission, SubmissionError, find_submissions, read_submission

AT_A_TIME = 2


def grade(
    folder: Annotated[Path, typer.Argument(help="The folder that holds a folder or a .zip for each learner.")],
    csv: Annotated[Path, typer.Option(help="The table of results; what is in it already is not run again.")],
    json: Annotated[Path | None, typer.Option(help="The same with what each learner's screen would show.")] = None,
    at_a_time: Annotated[int, typer.Option(min=1, max=64, help="Submissions that run at once.")] = AT_A_TIME,
    time_limit: Annotated[float, typer.Option(min=0.1, help="Seconds that one test may take.")] = TIME_LIMIT,
    whole_limit: Annotated[float, typer.Option(min=1, help="Seconds that one submission may take.")] = WHOLE_LIMIT,
) -> None:
    """Judge submissions with the course's own tests, each in a process that can do no harm."""
    errors = Console(stderr=True, highlight=False, soft_wrap=True)
    try:
        project = find_project()
        judge = Judge(project, powers(project.root), time_limit=time_limit, whole_limit=whole_limit)
        if sentence := warning(judge.able):
            errors.print(sentence, markup=False)
        results = grade_folder(folder, csv, json, judge, at_a_time, errors)
    except (CheckError, GraderError, ResultsError, SubmissionError) as error:
        errors.print(str(error), markup=False, style="red")
        raise typer.Exit(2) from None
    except KeyboardInterrupt:
        errors.print(f"Interrupted. What is judged is in {csv.name}; the same command goes on.", markup=False)
        raise typer.Exit(130) from None
    Console(highlight=False, soft_wrap=True).print(summary(results, csv), markup=False)


def grade_folder(
    folder: Path, csv: Path, json: Path | None, judge: Judge, at_a_time: int, errors: Console
) -> dict[str, Result]:
    """{submission: its result} of a folder; the files are written after each of them."""
    chapters = judge.project.chapter_list()
    stems, exercises = [c.stem for c in chapters], [hole.number for c in chapters for hole in c.holes]
    state, before, screens = course_digest(judge.project.root), read_results(csv), read_screens(json)
    found = [read_submission(path, stems) for path in find_submissions(folder, stems)]
    results: dict[str, Result] = {}
    waiting: list[Submission] = []
    for submission in found:
        digest = submission.digest(state)
        rows = known_rows(before, digest, exercises)
        rows = tuple(dataclasses.replace(row, shown=screens.get((digest, row.exercise), "")) for row in rows)
        if rows:
            results[submission.name] = Result(submission.name, digest, rows)
        else:
            waiting.append(submission)
    write(results, csv, json)
    with make_bar(errors) as bar:
        task = bar.add_task("submissions", total=len(found), completed=len(results))
        for result in judge_all(judge, waiting, state, at_a_time):
            results[result.submission] = result
            write(results, csv, json)
            bar.advance(task)
    return results


def write(results: dict[str, Result], csv: Path, json: Path | None) -> None:
    """Write both files."""
    write_csv(csv, results)
    if json is not None:
        write_json(json, results)


def judge_all(judge: Judge, waiting: list[Submission], state: str, at_a_time: int) -> Iterator[Result]:
    """The results of the submissions, each as soon as it is there."""
    if not waiting:
        return
    judge = dataclasses.replace(judge, stop=threading.Event())
    if judge.baseline.tests:
        yield from _judged(judge, waiting, state, at_a_time)
        return
    with tempfile.TemporaryDirectory(prefix="course-grade-cache-") as folder:
        Path(folder).chmod(0o755)
        yield from _judged(find_baseline(judge, Path(folder).resolve() / "compiled"), waiting, state, at_a_time)


def _judged(judge: Judge, waiting: list[Submission], state: str, at_a_time: int) -> Iterator[Result]:
    """The results, some submissions at a time, each in a slot of its own."""
    slots: SimpleQueue[int] = SimpleQueue()
    for slot in range(at_a_time):
        slots.put(slot)

    def judged(submission: Submission) -> Result:
        slot = slots.get()
        try:
            return Result(submission.name, submission.digest(state), tuple(judge.judge(submission, slot)))
        finally:
            slots.put(slot)

    pool = ThreadPoolExecutor(at_a_time)
    try:
        left: set[Future[Result]] = {pool.submit(judged, submission) for submission in waiting}
        while left:
            done, left = wait(left, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    except BaseException:  # Ctrl-C above all: nobody waits for what is still running
        judge.stop.set()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def make_bar(errors: Console) -> Progress:
    """The progress bar; it is not shown where the error stream is not a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=errors, disable=not errors.is_terminal or not sys.stderr.isatty())


def summary(results: dict[str, Result], csv: Path) -> str:
    """A line for each submission, and where the table is."""
    width = max(map(len, results), default=0)
    lines = [
        f"{result.submission:<{width}}  {result.done:>3} of {len(result.rows)}" for _, result in sorted(results.items())
    ]
    return "\n".join([*lines, f"Every exercise with its sentence is in {csv.name}."])
