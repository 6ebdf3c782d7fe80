"""Fresh copies of the chapters: the same source, with names replaced, or with chapters taken from another folder.

A demo that switches a guard off runs the reference's own code in which only that guard's function is another one. The
copies live beside the originals and change nothing in them.
"""

from __future__ import annotations

import builtins
import itertools
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
_numbers = itertools.count(1)


def load_chapters(
    replaced: Mapping[str, Mapping[str, Callable[[Mapping[str, ModuleType]], Any]]] | None = None,
    folder: Path = REFERENCE,
) -> dict[str, ModuleType]:
    """The chapters of `folder` by stem, as fresh modules that import each other; later ones see what was replaced.

    `replaced` gives for a stem the names to set once the module has run, each with a function that makes the value out
    of the copies so far: {"ch10_compress": {"find_anchors": lambda copies: lambda messages: []}}. An unknown stem or
    name raises KeyError: a guard that is not there cannot be switched off.
    """
    replaced = dict(replaced or {})
    prefix = f"chapters_copy_{next(_numbers)}"
    copies: dict[str, ModuleType] = {}
    for file in sorted(folder.glob("ch[0-9][0-9]_*.py")):
        copies[file.stem] = _run(file, f"{prefix}.{file.stem}", copies)
        for name, value in replaced.pop(file.stem, {}).items():
            if not hasattr(copies[file.stem], name):
                raise KeyError(f"{file.stem} has no {name}")
            setattr(copies[file.stem], name, value(copies))
    if replaced:
        raise KeyError(f"there is no chapter {', '.join(replaced)}")
    return copies


def _run(file: Path, name: str, copies: Mapping[str, ModuleType]) -> ModuleType:
    """A module made from a file, whose imports of chapters find the copies."""

    def import_copy(wanted: str, *details: Any) -> ModuleType:
        package, _, stem = wanted.partition(".")
        if package == "reference" and stem in copies:
            return copies[stem]
        return builtins.__import__(wanted, *details)

    module = ModuleType(name)
    module.__file__ = str(file)
    module.__dict__["__builtins__"] = vars(builtins) | {"__import__": import_copy}
    sys.modules[name] = module  # dataclasses look their module up by name
    exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), module.__dict__)
    return module
