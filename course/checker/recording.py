"""Calls of the functions under test: what was passed in, what came back, and whether the input was changed."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

NOTHING = object()  # no value came back: the call raised, or is still running


class InputChangedError(AssertionError):
    """A function changed what it was given."""


@dataclass
class Call:
    """One call of a function under test."""

    owner: str
    arguments: dict[str, Any]
    before: dict[str, Any]  # copies of the lists and dicts among the arguments
    result: Any = NOTHING


class Recorder:
    """The calls of a test, in the order in which they began."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def watch(self, module: ModuleType, owners: Iterable[str]) -> None:
        """Record the calls of these functions of a module, given as "to_wire" or "Agent.run"; missing ones are left."""
        for owner in owners:
            place, name = find_place(module, owner)
            function = vars(place).get(name) if place is not None else None
            if callable(function):
                setattr(place, name, self._recorded(owner, function, is_method="." in owner))

    def last(self, owner: str) -> Call | None:
        """The last call of a function, or None."""
        return next((call for call in reversed(self.calls) if call.owner == owner), None)

    def _recorded(self, owner: str, function: Callable[..., Any], is_method: bool) -> Callable[..., Any]:
        """The function, with its calls recorded; InputChangedError when it changes a list or dict that it is given."""

        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            arguments = _bound(function, args, kwargs)
            if is_method:
                arguments.pop("self", None)
            call = Call(owner, arguments, {name: _copy(value) for name, value in arguments.items()})
            self.calls.append(call)
            put_back = [keeper(value) for value in arguments.values()]
            try:
                call.result = function(*args, **kwargs)
                _refuse_changes(call)
            except BaseException:
                for each in put_back:  # tests share their messages, and the next test is to find them whole
                    each()
                raise
            return call.result

        return recorded


def find_place(module: ModuleType, owner: str) -> tuple[Any, str]:
    """(the module or class in which a function stands, its name); (None, name) when the class is not there."""
    *classes, name = owner.split(".")
    place: Any = module
    for each in classes:
        place = vars(place).get(each) if place is not None else None
    return place, name


def _bound(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call by their names, without defaults."""
    try:
        signature = inspect.signature(function)
        arguments = dict(signature.bind(*args, **kwargs).arguments)
        for parameter in signature.parameters.values():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:  # **settings: as they were written in the call
                arguments |= arguments.pop(parameter.name, {})
        return arguments
    except (TypeError, ValueError):
        return {f"argument {position}": value for position, value in enumerate(args, 1)} | kwargs


def _copy(value: Any) -> Any:
    """A deep copy of a list or dict; anything else, and what cannot be copied, as it is."""
    try:
        return copy.deepcopy(value) if isinstance(value, list | dict) else value
    except Exception:
        return value


def keeper(value: Any) -> Callable[[], None]:
    """A function that makes `value`, and every list and dict in it, what it is now."""
    inner: list[Callable[[], None]] = []
    if isinstance(value, list):
        items = list(value)
        inner = [keeper(item) for item in items]
    elif isinstance(value, dict):
        fields = dict(value)
        inner = [keeper(item) for item in fields.values()]

    def put_back() -> None:
        if isinstance(value, list):
            value[:] = items
        elif isinstance(value, dict):
            value.clear()
            value.update(fields)
        for each in inner:
            each()

    return put_back


def _refuse_changes(call: Call) -> None:
    """Raise InputChangedError when a list or dict among the arguments is not what it was."""
    for name, value in call.arguments.items():
        if isinstance(value, list | dict) and (change := first_change(call.before[name], value, name)):
            raise InputChangedError(f"{change}. Inputs are never changed: build a new list, and new dicts in it.")


def first_change(before: Any, after: Any, path: str) -> str:
    """Where two values first differ, such as "messages[3]['content'] has changed"; "" when they are equal."""
    if type(before) is type(after) and isinstance(before, list | dict):
        if len(before) != len(after):
            return f"{path} had {len(before)} entries and now has {len(after)}"
        for key in range(len(before)) if isinstance(before, list) else before:
            if isinstance(after, dict) and key not in after:
                return f"{path}[{key!r}] is gone"
            if change := first_change(before[key], after[key], f"{path}[{key!r}]"):
                return change
        return ""
    return "" if before is after or before == after else f"{path} has changed"
