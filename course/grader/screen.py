"""What a submitted file may not use: the ways to the grader's own workings, found by reading it, before it is run.

A chapter needs none of these. Reading cannot find what is put together at run time; what runs all the same meets the
guard, the seals and the canaries of `inside.py`, and the box around the process.
"""

from __future__ import annotations

import ast
import warnings


def _words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


MODULES = _words(
    "_pytest _thread _ctypes _posixsubprocess atexit builtins code codeop ctypes faulthandler gc imp importlib inspect "
    "marshal multiprocessing pdb pickle pkgutil pluggy pty pytest resource runpy signal site socket subprocess trace "
    "traceback tracemalloc unittest webbrowser zipimport"
)
CALLS = _words("__import__ breakpoint compile eval exec globals locals")
NAMES = _words(
    "__builtins__ __bases__ __base__ __closure__ __code__ __globals__ __loader__ __mro__ __spec__ __subclasses__ "
    "_current_frames _getframe addaudithook cr_frame exc_info f_back f_builtins f_globals f_locals gi_frame meta_path "
    "path_hooks setprofile settrace tb_frame unraisablehook"
)


def find_forbidden(text: str) -> tuple[int, str] | None:
    """(line, sentence) of the first thing that the grader does not run, or None; None for what is not Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    for node in ast.walk(tree):
        if found := _objection(node):
            return getattr(
                node, "lineno", 1
            ), f"It uses {found}. No chapter needs that, and the grader does not run it."
    return None


def _objection(node: ast.AST) -> str:
    """The forbidden thing that a node names, or ""."""
    if isinstance(node, ast.Import):
        return next((alias.name for alias in node.names if _is_closed(alias.name)), "")
    if isinstance(node, ast.ImportFrom):
        names = [f"{node.module}.{alias.name}" for alias in node.names]
        return (node.module or "") if _is_closed(node.module or "") else next(filter(_is_closed, names), "")
    if isinstance(node, ast.Name):
        return node.id if node.id in CALLS or node.id in NAMES else ""
    if isinstance(node, ast.Attribute):
        is_modules = node.attr == "modules" and isinstance(node.value, ast.Name | ast.Attribute)
        return node.attr if node.attr in NAMES or node.attr in ("__import__", "__builtins__") or is_modules else ""
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in NAMES | {"__import__"}:
        return node.value  # getattr(x, "__globals__")
    return ""


def _is_closed(name: str) -> bool:
    """Whether an import of this name is forbidden; for `course` and `tests` the checker has a sentence of its own."""
    package = name.partition(".")[0]
    return package in MODULES or name in ("sys.modules", "sys._getframe")
