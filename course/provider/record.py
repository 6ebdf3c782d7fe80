"""The worker's record: what the assistant's own words say is noted."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from course.noting import names_of
from course.provider.asking import SUMMARY_END, SUMMARY_MARK

_ITEM = re.compile(r"(?:[-*•]|\d+[.)])\s+(.*)")
# "noted docs/a.md: text"; not "noted lines for docs/a.md and docs/b.md".
_NOTED_PATH = re.compile(r"noted (?!(?:an? |the )?(?:lines?|notes?|entry|entries|following)\b|for\b)(.+: .*)", re.I)
_EARLIER = re.compile(r"\(and ([\d,]+) earlier items?\)")
_NOTED = re.compile(r"\b(?:noted?|wrote|written|write|appended|added|recorded|reported|logged|line for)\b", re.I)


@dataclass
class Record:
    """What the assistant's own words say is noted: report lines it wrote, and the Done items of summaries."""

    earlier: int = 0
    _first_names: set[str] = field(default_factory=set)
    _names: set[str] = field(default_factory=set)
    _loose: list[str] = field(default_factory=list)

    def add_summary(self, text: str) -> None:
        """Take in what the summary in a text has under Done; a text without a summary changes nothing."""
        for item in done_items(summary_in(text)):
            self.earlier += earlier_count(item)
            if match := _NOTED_PATH.fullmatch(item):
                self.add(f"- {match[1]}")
            elif _NOTED.search(item):
                self._add_loose(item)

    def add(self, line: str) -> None:
        """Take in a report line, "- path: text", or one in another form."""
        names = [posixpath.normpath(name.strip("`")) for name in names_of(line)]
        if not names or not line.startswith("- "):
            self._add_loose(line.removeprefix("- "))
        else:
            self._names.update(names)
            self._first_names.add(names[-1])

    def _add_loose(self, words: str) -> None:
        """Take in words that name what was noted; what they say about it behind a colon may name other files."""
        head = words.partition(": ")[0]
        self._loose.append(head if re.search(r"\w[./]\w", head) else words)

    def holds(self, path: str) -> bool:
        """Whether a file is noted."""
        return path in self._names or any(_mentions(words, path) for words in self._loose if path in words)

    def count(self) -> int:
        """The number of different files that it names, as far as they can be told apart."""
        return len(self._first_names | set(self._loose))


def done_items(summary: str) -> Iterator[str]:
    """The items under the heading "Done" of a summary."""
    heading = ""
    for line in map(str.strip, summary.split("\n")):
        if line.startswith("#"):
            heading = line.lstrip("# ").strip(" :").lower()
        elif heading == "done" and line:
            item = _ITEM.match(line)
            yield item[1] if item else line


def earlier_count(item: str) -> int:
    """The number of items that a summary counts instead of naming them, 0 for an item that is no such count."""
    match = _EARLIER.fullmatch(item.strip())
    return int(match[1].replace(",", "")) if match else 0


def summary_in(text: str) -> str:
    """The summary in a text, from its mark at the start of a line to its end mark; empty when there is none."""
    start = 0 if text.startswith(SUMMARY_MARK) else text.find("\n" + SUMMARY_MARK)
    return "" if start < 0 else text[start:].split("\n" + SUMMARY_END)[0]


def _mentions(text: str, path: str) -> bool:
    """Whether a text names a path, and not only a longer path that contains it."""
    return re.search(rf"(?<![\w/.-]){re.escape(path)}(?![\w/-]|\.\w)", text) is not None
