"""The steps of a judged process: what makes them doubtful, where they ended, and what is left to be run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from course.checker.project import Chapter
from course.grader.channel import Event
from course.grader.ended import Ended

_HOW = {
    "forged": "what came back was not written by the tests",
    "flood": "it sent more than any check does",
}


def find_doubt(ended: Ended) -> str:
    """Why nothing of a process counts, or ""."""
    for event in ended.events:
        if event["event"] == "seal":
            return f"{event['name']} was replaced while the tests ran"
        if event["event"] == "odd":
            return f"what came back is a {event['name']}, a class that says itself what it equals"
        if event["event"] == "canary passed":
            return "a test passed that has to fail, whatever the code does"
    return _HOW.get(ended.how, "")


def line_of_stack(stack: str, chapters: Sequence[Chapter], last: Event) -> int:
    """The line of the submitted file at which the time ran out; 1 where the stack does not tell."""
    number = last["chapter"] if "chapter" in last else int(last["exercise"].partition(".")[0])
    stem = next((chapter.stem for chapter in chapters if chapter.number == number), "")
    match = re.search(r"[/\\]chapters[/\\]" + re.escape(stem) + r'\.py", line (\d{1,6})', stack)
    return int(match[1]) if match else 1


def behind(left: Sequence[str], last: Event) -> list[str]:
    """The exercises that are still to be run when a process ended at a step; they are run in their order."""
    if last["event"] == "load":
        return [number for number in left if int(number.partition(".")[0]) != last["chapter"]]
    return list(left[left.index(last["exercise"]) + 1 :])
