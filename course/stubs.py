"""Stubs: the reference with its solutions taken out, text in and text out.

A pair of lines marks each hole: `# BEGIN EXERCISE 7.2 <task>` ... `# END EXERCISE 7.2`. The stub has one line in its
place, `raise NotImplementedError("exercise 7.2: <task>")`. Every other byte stays.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

RECORD = "stubs.json"  # beside the stubs: what was generated last, so that an edited file is known

_MARK = re.compile(r"(BEGIN|END) EXERCISE\b")
_BEGIN = re.compile(r"( *)# BEGIN EXERCISE (\d+)\.(\d+) (\S.*)")
_END = re.compile(r" *# END EXERCISE (\d+)\.(\d+)")


class StubError(ValueError):
    """Marks that do not fit together, or a file that must not be overwritten; the text says where and what to do."""


@dataclass(frozen=True)
class Hole:
    """One exercise in a reference file: `first` and `last` are the positions of its mark lines, counted from 0."""

    number: str
    task: str
    indent: str
    first: int
    last: int
    owner: str  # the function to be written, such as "to_wire" or "Agent.run"


def chapter_of(name: str) -> int:
    """The chapter's number in a file name such as ch07_boundaries.py; StubError when there is none."""
    match = re.match(r"ch(\d\d)_", name)
    if not match:
        raise StubError(f"{name}: exercises belong into a file that is named chNN_topic.py")
    return int(match[1])


@functools.lru_cache(maxsize=128)
def find_holes(text: str, name: str) -> tuple[Hole, ...]:
    """The exercises marked in `text`, the source of the file `name`, in order; StubError for marks that are wrong."""
    holes: list[Hole] = []
    begin: tuple[int, re.Match[str]] | None = None
    lines = [line.rstrip("\r") for line in text.split("\n")]
    for position, line in enumerate(lines):
        mark, place = _MARK.search(line), f"{name}:{position + 1}"
        if mark is None or "#" not in line[: mark.start()]:
            continue
        if mark[1] == "BEGIN":
            if begin:
                raise StubError(f"{place}: an exercise begins inside exercise {_number(begin[1])}; end that one first")
            begin = position, _checked_begin(line, place, name, len(holes) + 1)
        elif begin is None:
            raise StubError(f"{place}: an exercise ends here, and none has begun")
        else:
            holes.append(_closed(begin, position, line, place, text))
            begin = None
    if begin:
        raise StubError(f"{name}:{begin[0] + 1}: exercise {_number(begin[1])} has no END line")
    return tuple(holes)


def _number(begin: re.Match[str]) -> str:
    """The exercise's number on its first mark line."""
    return f"{begin[2]}.{begin[3]}"


def _checked_begin(line: str, place: str, name: str, expected: int) -> re.Match[str]:
    """The parts of a first mark line, which must have a task and the next number of its chapter."""
    match = _BEGIN.fullmatch(line)
    if match is None:
        raise StubError(f"{place}: write `# BEGIN EXERCISE N.M <task>` on a line of its own; found {line.strip()!r}")
    due = f"{chapter_of(name)}.{expected}"
    if _number(match) != due:
        raise StubError(f"{place}: exercise {_number(match)} stands where {due} is due; number them in their order")
    return match


def _closed(begin: tuple[int, re.Match[str]], position: int, line: str, place: str, text: str) -> Hole:
    """The hole between two mark lines."""
    first, match = begin
    end = _END.fullmatch(line)
    if end is None or f"{end[1]}.{end[2]}" != _number(match):
        raise StubError(f"{place}: exercise {_number(match)} ends with `# END EXERCISE {_number(match)}`")
    return Hole(_number(match), match[4], match[1], first, position, owner_at(text, first + 1))


def owner_at(text: str, line: int) -> str:
    """The qualified name of the function around a line, such as "Agent.run"; "" at module level."""
    names: list[str] = []
    node: ast.AST | None = ast.parse(text)
    while node is not None:
        around = (child for child in ast.iter_child_nodes(node) if _holds(child, line))
        node = next(around, None)
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
    return ".".join(names)


def _holds(node: ast.AST, line: int) -> bool:
    """Whether a node stands around a line."""
    return getattr(node, "lineno", line + 1) <= line <= (getattr(node, "end_lineno", None) or 0)


def make_stub(text: str, name: str) -> str:
    """`text` with one raising line in place of each marked region, mark lines included; every other byte as it was."""
    lines = text.split("\n")
    for hole in reversed(find_holes(text, name)):
        line_end = "\r" if lines[hole.first].endswith("\r") else ""
        sentence = json.dumps(f"exercise {hole.number}: {hole.task}", ensure_ascii=False)
        lines[hole.first : hole.last + 1] = [f"{hole.indent}raise NotImplementedError({sentence}){line_end}"]
    return "\n".join(lines)


def read_text(path: Path) -> str:
    """The text of a file with its line ends as they are."""
    return path.read_bytes().decode("utf-8")


def digest(text: str) -> str:
    """A short name for a text, whatever line ends a checkout gave it."""
    return hashlib.sha256(text.replace("\r\n", "\n").encode("utf-8", "surrogatepass")).hexdigest()[:16]


def make_stubs(reference: Path) -> dict[str, str]:
    """{file name: stub} for every chapter of the reference that has exercises."""
    texts = {path.name: read_text(path) for path in sorted(reference.glob("ch[0-9][0-9]_*.py"))}
    return {name: make_stub(text, name) for name, text in texts.items() if find_holes(text, name)}


def recorded(chapters: Path) -> dict[str, str]:
    """{file name: digest} of the stubs that were written last; {} where none were."""
    path = chapters / RECORD
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def is_edited(path: Path, stub: str) -> bool:
    """Whether a learner changed the file: it is neither this stub nor the one that was written last."""
    if not path.exists():
        return False
    return digest(read_text(path)) not in {digest(stub), recorded(path.parent).get(path.name)}


def write_stubs(reference: Path, chapters: Path) -> list[str]:
    """The names of the files that were written; StubError, and nothing is written, when a learner edited one."""
    stubs = make_stubs(reference)
    edited = [name for name, stub in stubs.items() if is_edited(chapters / name, stub)]
    if edited:
        number = chapter_of(edited[0])
        raise StubError(f"{', '.join(edited)}: you wrote in there, so nothing is overwritten. "
                        f"`course reset {number}` keeps a dated copy first.")  # fmt: skip
    changed = [
        name for name, stub in stubs.items() if not (path := chapters / name).exists() or read_text(path) != stub
    ]
    for name in changed:
        (chapters / name).write_bytes(stubs[name].encode())
    write_record(chapters, {name: digest(stub) for name, stub in stubs.items()})
    return changed


def write_record(chapters: Path, digests: dict[str, str]) -> None:
    """Note what was generated."""
    text = json.dumps(digests, indent=1, sort_keys=True) + "\n"
    (chapters / RECORD).write_text(text, encoding="utf-8", newline="\n")


def stale_stubs(reference: Path, chapters: Path) -> list[str]:
    """A sentence for each file in `chapters` that is not the stub of its reference; [] when all are."""
    problems = []
    for name, stub in make_stubs(reference).items():
        path = chapters / name
        if not path.exists():
            problems.append(f"{name} is missing: run `course stubs`")
        elif digest(read_text(path)) == digest(stub):
            continue
        elif is_edited(path, stub):
            problems.append(f"{name} was edited")
        else:
            problems.append(f"{name} is older than its reference: run `course stubs`")
    return problems
