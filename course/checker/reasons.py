"""Why a table row is in a test: the comment beside it."""

from __future__ import annotations

import ast
import functools
import inspect
import io
import tokenize
from collections.abc import Callable
from pathlib import Path
from typing import Any


def row_reason(test: Callable[..., Any], argument_names: list[str], row: int) -> str:
    """The comment beside row number `row` of the test's table that gives these arguments; "" where there is none."""
    path = inspect.getsourcefile(test)
    if path is None:
        return ""
    for names, rows in _tables(path).get(test.__name__, ()):
        if set(names) & set(argument_names) and row < len(rows):
            return rows[row]
    return ""


@functools.cache
def _tables(path: str) -> dict[str, list[tuple[list[str], list[str]]]]:
    """{test: [(argument names, the comments of its rows)]} of a test file."""
    text = Path(path).read_text(encoding="utf-8")
    comments = {
        token.start[0]: token.string.lstrip("# ")
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type == tokenize.COMMENT and "fmt:" not in token.string
    }
    tree = ast.parse(text)
    lists = {
        node.targets[0].id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and isinstance(node.value, ast.List)
    }
    found: dict[str, list[tuple[list[str], list[str]]]] = {}
    for function in (node for node in tree.body if isinstance(node, ast.FunctionDef)):
        for decorator in function.decorator_list:
            table = _table(decorator, lists)
            if table:
                names, rows = table
                found.setdefault(function.name, []).append((names, [_reason(row, comments) for row in rows]))
    return found


def _table(decorator: ast.expr, lists: dict[str, ast.List]) -> tuple[list[str], list[ast.expr]] | None:
    """(argument names, rows) of a `parametrize` decorator, or None for another one."""
    if not (isinstance(decorator, ast.Call) and isinstance(decorator.func, ast.Attribute)):
        return None
    if decorator.func.attr != "parametrize" or len(decorator.args) < 2:
        return None
    names, rows = decorator.args[:2]
    if isinstance(rows, ast.Name):
        rows = lists.get(rows.id, rows)
    literal = ast.literal_eval(names) if isinstance(names, ast.Tuple | ast.List | ast.Constant) else ()
    named = [literal] if isinstance(literal, str) else [str(name) for name in literal]
    return (named, rows.elts) if isinstance(rows, ast.List) else None


def _reason(row: ast.expr, comments: dict[int, str]) -> str:
    """The comment on the last line of a row, or on the line of its first value."""
    return comments.get(row.end_lineno or 0) or comments.get(row.lineno, "")
