"""The verdict on one case: what failed, what was checked, what could not be."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from course.conform.adapter import Run, is_stuck, run_case
from course.conform.cases import Case
from course.conform.generators import GENERATORS
from course.conform.ruler import CHECKS
from course.conform.statements import STATEMENTS
from course.provider.rules import violations
from reference.ch01_agent_loop import to_wire

LAX = ("alternation", "user_first")  # rules of strict providers only


@dataclass
class Verdict:
    """What came out of a case: sentences about what fails, the number of checks, and why it was left out, if it was."""

    case: Case
    failures: list[str] = field(default_factory=list)
    checked: int = 0
    unchecked: list[str] = field(default_factory=list)
    skipped: str = ""


def judge(case: Case) -> Verdict:
    """The verdict on a case, by its machine checks, its statements and its generator."""
    verdict = Verdict(case)
    generator = GENERATORS.get(case.id)
    if generator is not None:
        verdict.failures += [f"{statement}" for statement, holds in generator(case) if not holds]
        verdict.checked += len(case.expected)
    elif case.messages is None:
        verdict.skipped = "it has no messages, and there is no generator function for it"
    else:
        _judge_run(run_case(case), verdict)
    return verdict


def _judge_run(run: Run, verdict: Verdict) -> None:
    """Add what the checks and statements say of a run."""
    case = run.case
    if run.error is not None and not is_stuck(run) and not any(_name(check) == "raises" for check in case.checks):
        verdict.failures.append(f"raised {type(run.error).__name__}: {run.error}")
    for check in case.checks:
        verdict.checked += 1
        verdict.failures += _failed_check(run, check)
    waits = case.settings.get("pending_results") and not case.settings.get("then_append")
    if case.settings.get("mode") != "store and load" and case.messages and not waits:
        verdict.checked += 1
        # A list below its trigger stays as it is, two users in a row too, unless the case names a strict provider.
        looked = not run.passes or any(look.report for look in run.passes)
        strict = looked or bool(case.settings.get("strict_alternation"))
        found = [one for one in violations(to_wire(run.result)) if strict or one.rule not in LAX]
        verdict.failures += [f"a strict provider refuses the result: {problem.message}" for problem in found[:1]]
    for statement in case.expected:
        check_statement = STATEMENTS.get(statement)
        if check_statement is None:
            verdict.unchecked.append(statement)
            continue
        verdict.checked += 1
        if not check_statement(run):
            verdict.failures.append(f"expected: {statement}")


def _name(check: Any) -> str:
    return check if isinstance(check, str) else str(next(iter(check), "")) if isinstance(check, dict) else str(check)


def _failed_check(run: Run, check: Any) -> Iterator[str]:
    """A sentence when a machine check does not hold."""
    name = _name(check)
    argument: Any = check.get(name) if isinstance(check, dict) else True
    if name == "raises":
        if type(run.error).__name__ != argument:
            yield f"raises {argument}: nothing of the kind was raised"
    elif name == "summary_calls_max":
        if run.summary_calls > argument:
            yield f"summary_calls_max {argument}: the summariser was called {run.summary_calls} times"
    elif name not in CHECKS:
        yield f"the check {name!r} is not known"
    elif not CHECKS[name](run.case, run.result, argument):
        yield f"{name}" + ("" if argument is True else f" {argument!r:.80}")
