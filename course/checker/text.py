"""An outcome as text for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from course.checker.check import Outcome
from course.checker.drawing import SPOT
from course.checker.verdict import DONE, NOT_STARTED, WRONG, Failure, Verdict

RED_IS_RIGHT = (
    "Red is right: the check ran what stands in the file, and tells what is still to be done. Write, save, check again."
)
_ASCII = str.maketrans({"…": "...", "·": "-", "≥": ">=", "–": "-", "—": "-", "’": "'", "“": '"', "”": '"', "×": "x"})


def to_ascii(text: str) -> str:
    """`text` for a terminal that shows only ASCII; any other character as its escape."""
    return text.translate(_ASCII).encode("ascii", "backslashreplace").decode("ascii")


def outcome_text(outcome: Outcome, verbose: bool = False) -> str:
    """What a check prints: a line for each exercise, the first wrong one explained, and what to do next."""
    blocks = ["\n".join(_heading(verdict) for verdict in outcome.verdicts)]
    wrong = [verdict for verdict in outcome.verdicts if verdict.status == WRONG]
    blocks += ["\n".join(detail_lines(verdict, verbose)) for verdict in _distinct(wrong)]
    if not any(verdict.status == DONE for verdict in outcome.verdicts):
        blocks.append(RED_IS_RIGHT)
    blocks.append(next_step(outcome))
    return "\n\n".join(block for block in blocks if block) + "\n"


def _heading(verdict: Verdict) -> str:
    """One exercise on one line."""
    place = verdict.path if verdict.status == DONE else f"{verdict.path}:{verdict.line}"
    return f"{verdict.number:<5}{verdict.status:<13}{place}  {verdict.owner}".rstrip()


def _distinct(wrong: list[Verdict]) -> Iterator[Verdict]:
    """The wrong exercises without those that say the same again: a broken file is told of once."""
    told: set[str] = set()
    for verdict in wrong:
        key = f"{verdict.path}:{verdict.line} {verdict.failure.why if verdict.failure else ''}"
        if verdict.failure and verdict.failure.test == "" and key in told:
            continue
        told.add(key)
        yield verdict


def detail_lines(verdict: Verdict, verbose: bool = False) -> list[str]:
    """What is wrong with one exercise, in one screen."""
    failure = verdict.failure or Failure()
    lines = [f"{verdict.number}  {verdict.task}", ""]
    lines += [f"  {name:<9} {value}" for name, value in facts(failure) if value]
    lines += _drawing(failure)
    if failure.printed:
        lines += ["", "  your code printed", *(f"    {line}" for line in failure.printed)]
    if verdict.misconception:
        lines += ["", f"  This looks like: {verdict.misconception}"]
    lines += ["", f"  Next: open {verdict.path}:{verdict.line}, or `course hint {verdict.number}`"]
    if verbose and failure.trace:
        lines += ["", *(f"  {line}" for line in failure.trace.splitlines())]
    return lines


def facts(failure: Failure) -> list[tuple[str, str]]:
    """(name, value) of what is known about a failing test, in the order in which it is read."""
    called = [("called", failure.called), ("got", failure.got), ("expected", failure.expected)]
    why = "" if SPOT.match(failure.why) else failure.why  # it stands in the drawing
    return [*called, ("because", failure.row), ("why" if failure.called else "found", why), ("the rule", failure.rule)]


def _drawing(failure: Failure) -> list[str]:
    """The message list, one line a message, the bad spot marked."""
    if not failure.rows:
        return []
    lines = [""]
    for row in failure.rows:
        if row["index"] is None:
            lines.append("       …")
            continue
        mark = ">" if row["note"] else " "
        line = f"  {mark} {row['index']:>3} {row['role']:<10} {row['text']}"
        lines.append(f"{line:<60}   <- {row['note']}" if row["note"] else line)
    return lines


def next_step(outcome: Outcome) -> str:
    """The last line: what to do now."""
    for status in (WRONG, NOT_STARTED):
        verdict = next((each for each in outcome.verdicts if each.status == status), None)
        if verdict and status == NOT_STARTED:
            return f"Next: {verdict.number} in {verdict.path}:{verdict.line}  {verdict.task}"
        if verdict:
            return ""
    paths = list(dict.fromkeys(verdict.path for verdict in outcome.verdicts))
    return f"Done: every test passes on {', '.join(paths)}." if paths else "There is nothing to check."


def status_text(outcome: Outcome) -> str:
    """Every exercise on one line, how many are done, and the next one."""
    done = sum(verdict.status == DONE for verdict in outcome.verdicts)
    lines = [f"{each.number:<5}{each.status:<13}{each.task}" for each in outcome.verdicts]
    following = next((each for each in outcome.verdicts if each.status != DONE), None)
    last = f"Next: {following.number} in {following.path}:{following.line}" if following else "All of them. Well done."
    return "\n".join([*lines, "", f"{done} of {len(outcome.verdicts)} done. {last}"]) + "\n"
