"""The signature of a function, compared with the one that others call it by."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

_PLAIN = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def signature_problem(mine: Callable[..., Any], wanted: Callable[..., Any]) -> str:
    """A sentence that says how `mine` is called otherwise than `wanted`, or "".

    More parameters may follow, with defaults.
    """
    try:
        found, expected = inspect.signature(mine), inspect.signature(wanted)
    except (TypeError, ValueError):
        return "It is not a function any more."
    pairs = [_key(parameter) for parameter in expected.parameters.values()]
    mine_pairs = [_key(parameter) for parameter in found.parameters.values()]
    needed = [pair for pair in mine_pairs if pair not in pairs and pair[1] in _PLAIN and pair[2] is inspect._empty]
    shared = [pair for pair in mine_pairs if pair in pairs]
    if shared == pairs and not needed:
        return ""
    return f"The signature has changed: others call it as {_shown(wanted, expected)}; yours is {_shown(mine, found)}."


def _key(parameter: inspect.Parameter) -> tuple[str, Any, Any]:
    """What callers rely on: name, kind and default."""
    return parameter.name, parameter.kind, parameter.default


def _shown(function: Callable[..., Any], signature: inspect.Signature) -> str:
    """A signature without annotations."""
    bare = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    name = getattr(function, "__name__", "it")
    return f"{name}{signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)}"
