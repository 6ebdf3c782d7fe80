"""A learner's file as a module, always as it is on disk now."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from types import ModuleType

from course.stubs import read_text


def load_module(path: Path) -> ModuleType:
    """A new module made from the file at `path`; whatever running it raises is passed on.

    Neither a compiled file nor an earlier import is used, so it can be no older than the file.
    """
    name = f"chapters.{path.stem}"
    module = ModuleType(name)
    module.__file__ = str(path)
    sys.modules[name] = module  # dataclasses look their module up by name
    exec(compile(read_text(path), str(path), "exec"), module.__dict__)
    return module


def forbidden_import(path: Path) -> tuple[int, str] | None:
    """(line, sentence) of the first import that a chapter may not make, or None.

    A chapter that imports the bench, the tests or its own solution would be checked against itself.
    """
    for node in ast.walk(ast.parse(read_text(path))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            module = node.module or ""
            names = [module, *(f"{module}.{alias.name}" for alias in node.names)]
        for name in names:
            if sentence := _objection(name, path.stem):
                return node.lineno, sentence  # type: ignore[attr-defined]
    return None


def _objection(name: str, stem: str) -> str:
    """Why a file `stem` may not import `name`, or ""."""
    package, _, module = name.partition(".")
    if package in ("course", "tests", "chapters"):
        return f"It imports {name}. A chapter imports the standard library and earlier `reference` chapters only."
    later = re.match(r"ch(\d\d)_", module)
    if package == "reference" and later and int(later[1]) >= int(stem[2:4]):
        what = "the solution of this chapter" if module.startswith(stem) else "a later chapter"
        return f"It imports {name}: that is {what}. Write it yourself; earlier chapters may be imported."
    return ""
