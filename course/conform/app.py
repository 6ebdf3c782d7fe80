"""What `course conform` prints and returns: one line a case that fails, the counts, and the exit code."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from course.conform.cases import Case, read_cases
from course.conform.traces import run_traces
from course.conform.verdict import Verdict, judge

Print = Callable[[str], None]


def conform(files: Iterable[Path] = (), traces: Path | None = None, out: Print = print) -> int:
    """The exit code of `course conform`: 0 when every case and every transcript holds, else 1; 2 without an input."""
    files = list(files)
    if not files and traces is None:
        out("Give a file of cases, or --traces with a folder of transcripts.")
        return 2
    codes = [run_files(files, out)] if files else []
    if traces is not None:
        codes.append(run_traces(traces, out))
    return max(codes)


def _judged(case: Case) -> Verdict:
    """The verdict on a case; one that cannot even be run fails."""
    try:
        return judge(case)
    except Exception as error:  # odd settings of one case must not end the run of the others
        return Verdict(case, [f"could not be run: {type(error).__name__}: {error}"])


def run_files(files: Iterable[Path], out: Print) -> int:
    """Run every case of the files; 1 when one fails or a line cannot be read."""
    held = failed = broken = unchecked = 0
    skipped: list[str] = []
    for line in (line for file in files for line in read_cases(file)):
        for problem in line.problems:
            out(problem)
        broken += bool(line.problems)
        if line.case is None:
            continue
        verdict = _judged(line.case)
        unchecked += len(verdict.unchecked)
        if verdict.skipped:
            skipped.append(f"{line.case.id}: not run: {verdict.skipped}")
        elif verdict.failures:
            failed += 1
            for failure in verdict.failures:
                out(f"{line.place}: {line.case.id} fails: {failure}")
        else:
            held += 1
    for sentence in skipped:
        out(sentence)
    counts = f"{held} cases hold, {failed} fail, {len(skipped)} not run, {broken} lines with a problem"
    out(f"{counts}; {unchecked} statements have no check.")
    return int(failed > 0 or broken > 0)
