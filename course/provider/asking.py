"""What a user's message asks for: a survey of a folder, to go on, or something else.

A survey asks to read every file of a folder and to write a line for each into a report. Wordings differ, parts do not:

    part       such as                                       found by
    scope      every text file, all documents, file by file  ALL and FILES
    reading    read, go through, look at, survey             READ, or a line "for each"
    writing    add … line, note … report                     WRITE and LINE
    folder     under docs, in the folder "my notes", here    the best of _folders, "." when none is named
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass

SUMMARY_MARK = "[CONTEXT COMPACTION"
SUMMARY_END = "[END OF CONTEXT COMPACTION"
MAX_SENTENCES = 3

_ALL = re.compile(r"\b(every|each|all|everything|whole|entire|per (?:text )?file|(?:file|one) by (?:file|one))\b", re.I)
_FILES = re.compile(r"\b(files?|documents?|texts?|everything|folder|directory|tree)\b", re.I)
_READ = re.compile(
    r"\b(read|reading|go(?:ing)? through|look(?:ing)? (?:at|through|into)|work(?:ing)? through|walk(?:ing)? through"
    r"|survey|review|inspect|examine|open|summari[sz]e|scan|check|study|visit|cover)\b",
    re.I,
)
_NOT_READ = re.compile(
    r"\b(?:do not|don['’]t|never|without)\s+(?:read|open|look|go)(?:ing)?\s+(?:at\s+|through\s+)?"
    r"(?:every|each|all|them)\b",
    re.I,
)
_WRITE = re.compile(
    r"\b(write|writes|writing|written|add|adding|note|noting|append|put|record|jot|enter|make|log|produce|collect|keep|fill|give"
    r"|leave|compile|prepare|create|build|need|want)\b",
    re.I,
)
_LINE = re.compile(r"\b(lines?|entry|entries|sentences?|notes?|one-liners?|bullets?|rows?|report)\b", re.I)
_LINE_FOR_EACH = re.compile(r"\b(?:lines?|entry|sentence|note|bullet|row)\b.{0,40}\b(?:each|every|per)\b", re.I)

# A full stop ends a sentence only behind a word: "under . and" names a folder.
_SENTENCE_END = re.compile(r"(?<=[\w)\"'`’”\]/*][.!?])\s+|[\r\n]+")

_IN = r"under|in|inside|below|within|beneath|of|from|through|throughout|across|at"
_DEEP = ("under", "inside", "below", "within", "beneath", "throughout")
_NOUN = r"(?:sub)?(?:folder|directory|tree|path|dir)"
_NAME = (
    r"(?:\"(?P<q1>[^\"\n]+)\"|'(?P<q2>[^'\n]+)'|`(?P<q3>[^`\n]+)`|[“‘](?P<q4>[^”’\n]+)[”’]"
    r"|(?P<bare>[^\s,;:!?\"'`“”‘’()]+))"
)
_AFTER_IN = re.compile(rf"\b(?P<prep>{_IN})\s+(?:(?:the|my|our|your|that)\s+)?(?P<noun>{_NOUN}\s+)?{_NAME}", re.I)
_AFTER_NOUN = re.compile(rf"\b(?P<noun>{_NOUN})\s*:?\s+(?:called\s+|named\s+)?{_NAME}", re.I)
_BEFORE_NOUN = re.compile(rf"\b(?:the|my|our|your)\s+{_NAME}\s+(?P<noun>{_NOUN})\b", re.I)
_SLASHED = re.compile(r"(?<![\w/])(?P<bare>[\w.-]*/[\w./-]*)")
_A_FILE = re.compile(r"\.(?:md|txt|rst|csv|json|log|html?)$", re.I)
_NO_FOLDER = frozenset(
    re.findall(
        r"\w+",
        """
        a all alphabetical an and any both by called current detail directory document documents each every
        everything file files folder folders full here into is it its itself least line list my named no once
        one order our path project report sequence so subfolders text texts that the their them then there these
        this those to total tree turn which whole with work workspace write your
        """,
    )
)

_GO_ON = re.compile(r"\b(go on|go ahead|continue|carry on|keep (?:going|on)|proceed|resume|next)\b")
_GO_ON_WORDS = frozenset(
    re.findall(
        r"\w+",
        """
        ahead and are at carry continue do done end finish finished from go going i it job keep left list next
        now of off ok okay on please point proceed resume said stopped survey task thanks that the then there
        this to todo until up we were what where with work working yes you your
        """,
    )
)
_GENERATED = re.compile(r"\[generated\b|\[[^\]]*not a request[^\]]*\]", re.I)


@dataclass(frozen=True)
class Survey:
    """A request to survey the text files under `folder`, a path relative to the workspace."""

    folder: str


def survey_in(text: str) -> Survey | None:
    """The survey that `text` asks for, or None; the fewest neighbouring sentences that hold all its parts decide."""
    sentences = [part for part in _SENTENCE_END.split(text) if part and part.strip()]
    for size in range(1, MAX_SENTENCES + 1):
        for start in range(len(sentences) - size + 1):
            window = " ".join(sentences[start : start + size])
            if _asks_for_survey(window):
                return Survey(_folder_in(window))
    return None


def survey_goal(folder: str) -> str:
    """The goal to record for a survey; `survey_in` reads the same folder out of it."""
    quote = '"' if "`" in folder else "`"
    return f"Read every text file under {quote}{folder}{quote} and write one line for each into the report."


def is_go_on(text: str) -> bool:
    """Whether a user's message asks for nothing new: it says to go on, was generated to stand between, or is blank."""
    rest = text.strip()
    if _GENERATED.match(rest):
        return True
    words = re.findall(r"[a-z']+", rest.lower())
    if not rest or not words:
        return not rest
    return bool(_GO_ON.search(rest.lower())) and len(words) <= 15 and _GO_ON_WORDS.issuperset(words)


def _asks_for_survey(text: str) -> bool:
    """Whether the text holds every part of a survey request."""
    if _NOT_READ.search(text) or not (_ALL.search(text) and _FILES.search(text)):
        return False
    reads = _READ.search(text) or _LINE_FOR_EACH.search(text)
    return bool(reads and _WRITE.search(text) and _LINE.search(text))


def _folder_in(text: str) -> str:
    """The folder that a request names: the likeliest of all candidates, "." for none."""
    candidates = sorted(_folders(text))
    return _normal(candidates[0][2]) if candidates else "."


def _folders(text: str) -> Iterator[tuple[int, int, str]]:
    """(rank, place, folder) of each word that may name the folder; the lowest is the likeliest."""
    for pattern in (_AFTER_IN, _AFTER_NOUN, _BEFORE_NOUN):
        # Matches may overlap: "in the folder of docs".
        for place in range(len(text)):
            match = pattern.match(text, place) if place == 0 or not text[place - 1].isalnum() else None
            if match and (name := _candidate(match, text)):
                sure = match["noun"] or "/" in name or match["bare"] is None
                yield (0 if sure else 1), place, name
    for match in _SLASHED.finditer(text):
        name = _bare(match["bare"])
        if not _A_FILE.search(name):
            yield 2, match.start(), name


def _candidate(match: re.Match[str], text: str) -> str:
    """The folder's name in a match, or an empty text when these words name no folder."""
    groups = match.groupdict()
    quoted = next((groups[key] for key in ("q1", "q2", "q3", "q4") if groups[key]), "")
    name = quoted or _bare(groups["bare"] or "")
    deep = (groups.get("prep") or "").lower() in _DEEP
    if _A_FILE.search(name) and not deep:
        return ""  # "in report.md" is where to write
    if not quoted and (name.lower() in _NO_FOLDER or re.match(r"\s+order\b", text[match.end() :])):
        return ""
    return name


def _bare(word: str) -> str:
    """A word without the punctuation of its sentence; "." and ".." stay."""
    return re.sub(r"(?<=[^./\\])[.,;:!?*]+$", "", word)


def _normal(folder: str) -> str:
    """The folder as listings show it."""
    return posixpath.normpath(folder.strip() or ".")
