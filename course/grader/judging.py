"""Judging: one submission through the box, and what its events are worth."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from course.checker.misconceptions import with_misconception
from course.checker.project import Chapter, Project
from course.checker.runner import TIME_LIMIT, pytest_options
from course.checker.verdict import DONE, WRONG, Verdict, verdicts
from course.grader.baseline import Baseline, read_baseline
from course.grader.box import Box, open_box
from course.grader.channel import Event
from course.grader.limits import Powers
from course.grader.results import MISSING, NOT_JUDGED, REFUSED, TAMPERED, Row, row_of
from course.grader.screen import find_forbidden
from course.grader.steps import behind, find_doubt, line_of_stack
from course.grader.submissions import Submission

WHOLE_LIMIT = 60.0  # seconds for one submission; a right one takes some three

TAMPERED_SENTENCE = "The result does not count: {}. Somebody should look at this file."
OVER = "The time for the whole submission was used up before this exercise could be judged."


class GraderError(RuntimeError):
    """The grader cannot judge on this machine; the text says what happened to the course's own solution."""


@dataclass(frozen=True)
class Judge:
    """Judges submissions; `slot` says which of the submissions that run at once is meant."""

    project: Project
    able: Powers
    baseline: Baseline = field(default_factory=Baseline)
    cache: Path | None = None  # compiled files that the baseline left
    stop: threading.Event = field(default_factory=threading.Event)  # set: every process is ended at once
    time_limit: float = TIME_LIMIT
    whole_limit: float = WHOLE_LIMIT

    def judge(self, submission: Submission, slot: int = 0) -> list[Row]:
        """A row for each exercise of the course, in order."""
        rows = self._unread(submission)
        ready = [c for c in self.project.chapter_list() if all(hole.number not in rows for hole in c.holes)]
        with open_box(self.project.root, self.able, slot, self.cache, self.stop) as box:
            for chapter in ready:
                box.put(f"{chapter.stem}.py", submission.files[chapter.stem])
            theirs = Project(self.project.root, box.chapters)
            try:
                rows |= self._judged(box, theirs, ready, time.monotonic() + self.whole_limit)
            except (
                AttributeError,
                IndexError,
                KeyError,
                TypeError,
                ValueError,
            ) as error:  # events that no check writes
                sentence = TAMPERED_SENTENCE.format(f"what came back cannot be read ({type(error).__name__})")
                for chapter in ready:
                    rows |= {
                        h.number: Row(h.number, TAMPERED, f"chapters/{chapter.stem}.py", 0, sentence)
                        for h in chapter.holes
                    }
        return [rows[hole.number] for chapter in self.project.chapter_list() for hole in chapter.holes]

    def _unread(self, submission: Submission) -> dict[str, Row]:
        """The rows of the exercises whose file is not there or is not run."""
        rows: dict[str, Row] = {}
        for chapter in self.project.chapter_list():
            status, line, sentence = MISSING, 0, f"{chapter.stem}.py is not in the submission."
            if submission.problem or chapter.stem in submission.refused:
                status, sentence = REFUSED, submission.problem or submission.refused[chapter.stem]
            elif chapter.stem in submission.files:
                found = find_forbidden(submission.files[chapter.stem].decode("utf-8", "replace"))
                if found is None:
                    continue
                status, (line, sentence) = REFUSED, found
            for hole in chapter.holes:
                rows[hole.number] = Row(hole.number, status, f"chapters/{chapter.stem}.py", line, sentence)
        return rows

    def _judged(self, box: Box, theirs: Project, chapters: Sequence[Chapter], end: float) -> dict[str, Row]:
        """The rows of these chapters; where something was tampered with, of each chapter in a process of its own."""
        events, doubts = self._watched(box, theirs, chapters, end)
        if doubts and len(chapters) > 1:
            return {n: row for each in chapters for n, row in self._judged(box, theirs, [each], end).items()}
        numbers = [hole.number for chapter in chapters for hole in chapter.holes]
        rows: dict[str, Row] = {}
        for verdict in verdicts(theirs, chapters, numbers, events):
            rows[verdict.number] = self._row(theirs, verdict, events, doubts)
        return rows

    def _row(self, theirs: Project, verdict: Verdict, events: Sequence[Event], doubts: Sequence[str]) -> Row:
        """The row of a verdict; one that says "done" has to be proved."""
        if problem := self.baseline.problems.get(verdict.number):
            return row_of(verdict, 0, NOT_JUDGED, problem)
        if doubts:
            return row_of(verdict, len(self.baseline.tests.get(verdict.number, ())), TAMPERED, doubts[0])
        if any(event["event"] == "over" and event["exercise"] == verdict.number for event in events):
            return row_of(verdict, 0, WRONG, OVER)
        if verdict.status == DONE and (missing := self._unproved(verdict.number, events)):
            return row_of(verdict, verdict.passed, TAMPERED, TAMPERED_SENTENCE.format(missing))
        if verdict.status == WRONG:
            verdict = with_misconception(theirs, theirs.find_exercise(verdict.number)[0], verdict)
        return row_of(verdict, len(self.baseline.tests.get(verdict.number, ())))

    def _watched(
        self, box: Box, theirs: Project, chapters: Sequence[Chapter], end: float
    ) -> tuple[list[Event], list[str]]:
        """(events, sentences of doubt) of as many processes as it takes to get behind each exercise that ends one."""
        events: list[Event] = []
        left = [hole.number for chapter in chapters for hole in chapter.holes]
        while left:
            wanted = [chapter for chapter in chapters if any(hole.number in left for hole in chapter.holes)]
            if self.stop.is_set():
                raise GraderError("The grader was told to stop.")
            seconds = end - time.monotonic()
            if seconds <= 0:
                return [*events, *({"event": "over", "exercise": number} for number in left)], []
            canaries = {number: self.baseline.canaries.get(number, []) for number in left}
            options = pytest_options(theirs, wanted, left, self.time_limit, box.notes / "events")
            ended = box.run(options, {"canaries": canaries}, seconds)
            events += ended.events
            if doubt := find_doubt(ended):
                return events, [TAMPERED_SENTENCE.format(doubt)]
            if ended.how == "whole":
                return events, []
            last = ended.events[-1] if ended.events else {}
            if last.get("event") not in ("load", "start"):
                if ended.how == "over":
                    continue
                return events, [TAMPERED_SENTENCE.format("the process ended between two tests")]
            by = "time" if ended.how in ("time", "over") else "exit"
            events.append({**last, "event": "cut off", "by": by, "line": line_of_stack(ended.stack, wanted, last)})
            left = behind(left, last)
        return events, []

    def _unproved(self, number: str, events: Sequence[Event]) -> str:
        """What is missing for "done": each of the tests in its order, and canaries that failed; "" when nothing is."""
        mine = [event for event in events if event.get("exercise") == number]
        expected = [(kind, name) for name in self.baseline.tests.get(number, ()) for kind in ("start", "passed")]
        if [(event["event"], event["test"]) for event in mine if event["event"] in ("start", "passed")] != expected:
            return "the tests that passed are not the tests of this exercise"
        failed = [event["test"] for event in mine if event["event"] == "canary failed"]
        if sorted(failed) != sorted(self.baseline.canaries.get(number, ())):
            return "tests that have to fail did not"
        return ""


def find_baseline(judge: Judge, cache: Path) -> Judge:
    """A judge who knows what the course's own solution does in the box; GraderError when it is not judged as done.

    The compiled files of the course are left in the folder `cache`, which is made.
    """
    project, chapters = judge.project, judge.project.chapter_list()
    numbers = [hole.number for chapter in chapters for hole in chapter.holes]
    with open_box(project.root, judge.able, 0, stop=judge.stop) as box:
        box.warm()
        for chapter in chapters:
            box.put(f"{chapter.stem}.py", project.reference(chapter).read_bytes())
        theirs = Project(project.root, box.chapters)
        options = pytest_options(theirs, chapters, numbers, 4 * judge.time_limit, box.notes / "events")
        ended = box.run(options, {"canaries": {number: ["*"] for number in numbers}}, 10 * judge.whole_limit)
        judged = verdicts(theirs, chapters, numbers, ended.events)
        box.give_cache(cache)
    if ended.how != "whole" or all(verdict.status != DONE for verdict in judged):
        raise GraderError(
            f"The course's own solution cannot be judged on this machine ({ended.how}), so nothing else can be."
        )
    return replace(judge, baseline=read_baseline(ended.events, judged), cache=cache)
