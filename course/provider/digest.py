"""What a summary prompt holds: the previous summary, the turns, and the number of tokens allowed.

    <previous_summary>      absent the first time
    ## Goal …
    </previous_summary>
    <turns>
    [user]                  then the text, every line indented by two spaces
    [assistant]
    -> read_file {"path": "docs/a.md"}
    [tool read_file]
    </turns>
    … Use at most 400 tokens.

A marker counts at the start of a line only: whatever is quoted is indented.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from course.provider.reading import arguments_of
from course.provider.record import earlier_count

DEFAULT_TOKENS = 2_000

_ROLE = re.compile(r"\[(user|assistant|tool)(?: ([^\]]*))?\]\s*")
_CALL = re.compile(r"-> (\S+)\s*(.*)")
_BUDGET = re.compile(
    r"\b(?:at most|within|no more than|not more than|up to|under|maximum of|limit of)\s+([\d,]*\d)\s+tokens", re.I
)
_BULLET = re.compile(r"^(?:[-*•]|\d+[.)])\s+")
_NOTHING = ("", "(none)", "none")


@dataclass
class Turn:
    """One message of the quoted conversation: its role, the tool for a result, its lines, its calls as written."""

    role: str
    tool: str = ""
    lines: list[str] = field(default_factory=list)
    raw_calls: list[tuple[str, str]] = field(default_factory=list)

    @property
    def calls(self) -> list[tuple[str, dict[str, Any], str]]:
        """(name, arguments, arguments as they stand there) of each call; no arguments where the JSON was cut."""
        return [(name, arguments_of({"function": {"arguments": raw}}), raw) for name, raw in self.raw_calls]

    @property
    def text(self) -> str:
        """The text with white space folded."""
        return " ".join(" ".join(self.lines).split())


@dataclass(frozen=True)
class Digest:
    """A summary prompt, read: items by heading of the previous summary, turns, and the budget in tokens."""

    previous: dict[str, list[str]]
    earlier: int
    turns: list[Turn]
    budget: int


def digest(prompt: str) -> Digest:
    """What `prompt` holds; without turns when it quotes no conversation."""
    lines = prompt.split("\n")
    start = lines.index("<turns>") if "<turns>" in lines else len(lines)
    end = lines.index("</turns>", start) if "</turns>" in lines[start:] else len(lines)
    sections = _sections(_between(lines[:start], "<previous_summary>", "</previous_summary>"))
    earlier = sum(map(earlier_count, sections.get("Done", ())))
    named = _BUDGET.findall("\n".join(lines[end:])) or _BUDGET.findall("\n".join(lines[:start]))
    budget = int(named[-1].replace(",", "")) if named else DEFAULT_TOKENS
    return Digest(sections, earlier, _turns(lines[start + 1 : end]), budget)


def _between(lines: list[str], opening: str, closing: str) -> list[str]:
    """The lines between two markers, the last closing one; none when a marker is missing."""
    if opening not in lines or closing not in lines:
        return []
    return lines[lines.index(opening) + 1 : len(lines) - 1 - lines[::-1].index(closing)]


def _sections(lines: Iterable[str]) -> dict[str, list[str]]:
    """The items under each heading, without bullets and without those that say that there is nothing."""
    sections: dict[str, list[str]] = {}
    heading = ""
    for line in map(str.strip, lines):
        if line.startswith("#"):
            heading = line.lstrip("# ").strip()
        elif line.lower() not in _NOTHING:
            sections.setdefault(heading, []).append(_BULLET.sub("", line))
    return sections


def _turns(lines: Iterable[str]) -> list[Turn]:
    """The quoted messages in order."""
    turns: list[Turn] = []
    for line in lines:
        if role := _ROLE.fullmatch(line):
            turns.append(Turn(role[1], role[2] or ""))
        elif turns and (call := _CALL.fullmatch(line)):
            turns[-1].raw_calls.append((call[1], call[2]))
        elif turns and turns[-1].raw_calls:
            # Calls stand behind the text, so this is the next line of arguments that were cut or written over several.
            name, raw = turns[-1].raw_calls[-1]
            turns[-1].raw_calls[-1] = (name, f"{raw}\n{line}")
        elif turns:
            turns[-1].lines.append(line.removeprefix("  "))
    return turns
