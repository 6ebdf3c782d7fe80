"""The scenarios of the demo: what the user asks for, and whether something else in mid-run."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from course.workspace import Workspace
from reference.messages import Message

SYSTEM_PROMPT = (
    "You are a careful agent that surveys folders. List the files first. Read one file after the other; after each, "
    "append one line to the report, in the form `- path: text`, where text is the file's line that begins with Fact:, "
    "without that word, or else its first line with words. Read no file twice."
)
REQUEST = "Read every text file under {folder} and write one line for each into report.md."
CHANGE = "Stop that, I need something else. " + REQUEST
CHANGE_AFTER_CALL = 6
BRIEF_SHARE = 0.60  # of the window in tokens, at about four characters a token
WORDS = [
    "the",
    "survey",
    "covers",
    "every",
    "depot",
    "and",
    "each",
    "record",
    "of",
    "the",
    "district",
    "should",
    "be",
    "read",
    "with",
    "care",
    "before",
    "it",
    "is",
    "noted",
]

SCENARIOS = {
    "survey": "read every file of the folder, write one line for each",
    "huge-brief": "the same, with a first message that takes most of the window",
    "change-of-mind": "the same, but in mid-run the user asks for one sub-folder instead",
}


class ScenarioError(ValueError):
    """A scenario that does not fit the folder; the text says why."""


@dataclass(frozen=True)
class Scenario:
    """What is asked for: the opening messages, and a change after some call; `folder` is what counts in the end."""

    name: str
    opening: tuple[Message, ...]
    folder: str = "."
    change: str | None = None


def make_scenario(name: str, workspace: Workspace, context_length: int, seed: int) -> Scenario:
    """The scenario of that name for a workspace; the same seed gives the same words."""
    if name == "change-of-mind":
        folder = _second_folder(workspace.text_files())
        return Scenario(name, _opening("./"), folder, CHANGE.format(folder=folder))
    brief = _brief(int(context_length * BRIEF_SHARE) * 4, seed) if name == "huge-brief" else ""
    return Scenario(name, _opening("./", brief))


def _opening(folder: str, brief: str = "") -> tuple[Message, ...]:
    """The system prompt and the request with which a survey begins."""
    request = REQUEST.format(folder=folder) + (f" What you should know before:\n\n{brief}" if brief else "")
    return {"role": "system", "content": SYSTEM_PROMPT}, {"role": "user", "content": request}


def _brief(characters: int, seed: int) -> str:
    """So many characters of words in seeded order."""
    chooser = random.Random(seed)
    words = [chooser.choice(WORDS) for _ in range(characters // 4)]
    return " ".join(words)[:characters]


def _second_folder(files: Sequence[str]) -> str:
    """The last folder that holds at least two files and is not the whole."""
    counts = Counter(PurePosixPath(file).parent.as_posix() for file in files)
    folders = [folder for folder, count in sorted(counts.items()) if folder != "." and 2 <= count < len(files)]
    if not folders:
        raise ScenarioError("The scenario change-of-mind needs a folder with sub-folders of at least two text files.")
    return folders[-1]
