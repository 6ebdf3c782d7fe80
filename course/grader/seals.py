"""Seals: what the tests stand on, compared with what it was before any submitted code was loaded."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Iterator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

_WATCHED = (
    "_pytest builtins collections copy course functools hashlib itertools json math operator os pluggy pytest re "
    "reference sys tests threading"
)
_NAMES = ("__eq__", "__ne__", "__len__", "__iter__", "__contains__", "__getitem__", "__bool__", "__lt__", "__gt__")
_PLAIN = (object, bool, bytes, dict, float, frozenset, int, list, range, set, str, tuple, type(None))
MAX_PARTS = 20_000  # of a result are looked at

Seal = tuple[Any, str, Any]  # a module or class, a name in it, the function or class that stands there


def take_seals() -> list[Seal]:
    """The functions and classes of the watched modules, with the functions of their classes."""
    watched = set(_WATCHED.split())
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] in watched]
    return [seal for module in modules if isinstance(module, ModuleType) for seal in _of_module(module)]


def _of_module(module: ModuleType) -> Iterator[Seal]:
    """The seals of a module, and of the classes that are defined in it."""
    for name, value in list(vars(module).items()):
        if isinstance(value, FunctionType | BuiltinFunctionType | type):
            yield module, name, value
        if isinstance(value, type) and value.__module__ == module.__name__ and module is not builtins:
            for inner, function in list(vars(value).items()):
                if isinstance(function, FunctionType | property | staticmethod | classmethod):
                    yield value, inner, function


def first_broken(seals: list[Seal]) -> str:
    """The name of the first thing that is not what it was, or ""."""
    for place, name, value in seals:
        if vars(place).get(name) is not value:
            return f"{place.__name__}.{name}"
    return ""


def odd_class(result: Any, known: ModuleType) -> str:
    """The name of a class in a result that decides for itself what it equals, or ""; classes of `known` are welcome."""
    plain = {name: {getattr(each, name, None) for each in _PLAIN} for name in _NAMES}
    waiting, seen = [result], 0
    while waiting and seen < MAX_PARTS:
        value, seen = waiting.pop(), seen + 1
        kind = type(value)
        if kind in _PLAIN:
            if kind is dict:
                waiting += [*value.keys(), *value.values()]
            elif kind in (list, tuple, set, frozenset):
                waiting += value
        elif not _is_known(kind, known) and any(getattr(kind, name, None) not in plain[name] for name in _NAMES):
            return kind.__name__
    return ""


def _is_known(kind: type, known: ModuleType) -> bool:
    """Whether a class comes from the course or the standard library, or has its twin in the solved chapter."""
    module = sys.modules.get(kind.__module__)
    if module is not None and not kind.__module__.startswith("chapters") and vars(module).get(kind.__name__) is kind:
        return True
    return isinstance(vars(known).get(kind.__name__), type)
