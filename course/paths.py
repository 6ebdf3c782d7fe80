"""Paths of a workspace: what they may name, and how they are shown."""

from __future__ import annotations

import os
import re
from pathlib import Path, PurePosixPath

NOT_LISTED = ("node_modules", "__pycache__")
ODD_CHARACTERS = re.compile("[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")


class ToolError(ValueError):
    """A call that a tool refuses or cannot do; its text is one sentence for the model."""


def resolve_inside(root: Path, path: str) -> Path:
    """The file or folder that `path` names inside `root`; ToolError when it leads out of it or into a hidden folder."""
    if not isinstance(path, str) or "\0" in path:
        raise ToolError("A path has to be a text without NUL.")
    parts = PurePosixPath(path).parts
    if Path(path).is_absolute() or PurePosixPath(path).is_absolute() or ".." in parts:
        raise ToolError(f"{quote(path)} is refused: paths are relative to the workspace, without '..'.")
    if any(is_unlisted(part) for part in parts[:-1]):
        raise ToolError(f"{quote(path)} is refused: hidden folders are no part of the workspace.")
    try:
        root = root.resolve()
        target = (root / path).resolve()
    except (OSError, RuntimeError, ValueError):
        raise ToolError(f"{quote(path)} names nothing that can be read.") from None
    if not target.is_relative_to(root):
        raise ToolError(f"{quote(path)} is refused: it leads out of the workspace.")
    hidden = [part for part in target.relative_to(root).parts if is_unlisted(part)]
    if hidden and (len(hidden) > 1 or os.path.isdir(target) or hidden[0] != target.name):
        raise ToolError(f"{quote(path)} is refused: hidden folders are no part of the workspace.")
    return target


def plain(path: str) -> str:
    """The path as listings show it: without "./" and doubled or final slashes."""
    return PurePosixPath(path).as_posix()


def is_under(name: str, folder: str) -> bool:
    """Whether a path lies in a folder or below it."""
    return folder == "." or name.startswith(folder + "/")


def is_unlisted(name: str) -> bool:
    """Whether a folder of this name is no part of a workspace."""
    return name in NOT_LISTED or (name.startswith(".") and name not in (".", ".."))


def quote(path: str) -> str:
    """A path for an error text: in quotes, without odd characters, not too long."""
    clean = ODD_CHARACTERS.sub("\ufffd", path)
    return f"'{clean if len(clean) <= 120 else clean[:119] + '…'}'"
