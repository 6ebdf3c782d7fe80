"""For authors: `python -m course.checker.record` writes down how each named wrong answer fails."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from course.checker.answers import Answer, put_into, read_answers
from course.checker.check import Outcome, check_exercises, judge
from course.checker.misconceptions import fingerprint, record_path
from course.checker.project import Chapter, Project, find_project
from course.checker.runner import TIME_LIMIT, came_to_its_end, environment, pytest_options, read_events
from course.stubs import read_text

WORKERS = 2
# Each run loads the tests anew: a wrong answer of the run before may have changed their messages.
RUN_JOBS = """
import json, sys, pytest
for options in json.load(sys.stdin):
    pytest.main(options)
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
"""


def as_learner(project: Project, folder: Path, chapter: Chapter, answer: Answer) -> Project:
    """A project in whose chapter everything is solved but for this answer's exercise, where the answer stands."""
    theirs = Project(project.root, folder / "chapters")
    theirs.chapters.mkdir(parents=True)
    text = put_into(read_text(project.reference(chapter)), answer.text)
    theirs.mine(chapter).write_bytes(text.encode())
    return theirs


def check_answers(project: Project, pairs: list[tuple[Chapter, Answer]]) -> list[Outcome]:
    """The outcomes of many answers, in a few processes; one that is cut off is checked again in one of its own."""
    with tempfile.TemporaryDirectory(prefix="course-answers-") as folder, ThreadPoolExecutor(WORKERS) as pool:
        learners = [as_learner(project, Path(folder, str(i)), *pair) for i, pair in enumerate(pairs)]
        jobs = [
            pytest_options(theirs, [chapter], [answer.exercise], TIME_LIMIT, theirs.chapters.parent / "events")
            for theirs, (chapter, answer) in zip(learners, pairs, strict=True)
        ]
        list(pool.map(run_jobs, (jobs[start::WORKERS] for start in range(WORKERS))))
        return [_outcome(theirs, chapter, answer) for theirs, (chapter, answer) in zip(learners, pairs, strict=True)]


def run_jobs(jobs: list[list[str]]) -> None:
    """Run pytest with each of these options, one after the other in one process: starting it is what takes longest."""
    subprocess.run(
        [sys.executable, "-c", RUN_JOBS], input=json.dumps(jobs), cwd=find_project().root, env=environment(),
        capture_output=True, encoding="utf-8", errors="replace", check=False,
    )  # fmt: skip


def _outcome(theirs: Project, chapter: Chapter, answer: Answer) -> Outcome:
    """The outcome of an answer that was run, or that has to be run now."""
    events = read_events(theirs.chapters.parent / "events")
    if came_to_its_end(events):
        return judge(theirs, [chapter], [answer.exercise], events)
    return check_exercises(theirs, [chapter], [answer.exercise])


def fingerprints(project: Project, chapter: Chapter) -> dict[str, Mapping[str, str]]:
    """{name of a wrong answer: how it fails}, measured now."""
    answers = read_answers(project, chapter, "wrong")
    outcomes = check_answers(project, [(chapter, answer) for answer in answers])
    return {
        answer.name: fingerprint(outcome.verdicts[0].failures)
        for answer, outcome in zip(answers, outcomes, strict=True)
    }


def main(numbers: list[str]) -> None:
    """Record the chapters of these numbers, or all of them."""
    project = find_project()
    chapters = [project.find_chapter(number) for number in numbers] if numbers else project.chapter_list()
    for chapter in chapters:
        path = record_path(project, chapter)
        if path.parent.exists():
            text = json.dumps(fingerprints(project, chapter), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
            path.write_text(text, encoding="utf-8", newline="\n")
            print(f"chapter {chapter.number}: {path.name} written")


if __name__ == "__main__":
    main(sys.argv[1:])
