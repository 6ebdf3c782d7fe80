"""The rules that look at one message alone. Each check yields (index, param, text) for every place that breaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

Message = dict[str, Any]
Findings = Iterator[tuple[int | None, str, str]]

KEYS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {"role", "content", "name", "tool_calls", "refusal", "audio"},
    "tool": {"role", "content", "name", "tool_call_id"},
}
PART_KINDS = ("text", "image_url", "input_audio", "file", "refusal")


def role(messages: list[Message]) -> Findings:
    """Messages whose role is missing or unknown."""
    for index, message in enumerate(messages):
        found = message.get("role")
        if not _known_role(found):
            param = f"messages.[{index}].role"
            yield index, param, f"Invalid value for '{param}': {shown(found)}. Expected one of {', '.join(KEYS)}."


def keys(messages: list[Message]) -> Findings:
    """Keys that a message of that role does not have, and names that are not text."""
    for index, message in enumerate(messages):
        known = KEYS[message["role"]] if _known_role(message.get("role")) else message.keys()
        for key in message.keys() - known:
            param = f"messages.[{index}].{key}"
            yield (
                index,
                param,
                f"Unknown parameter: '{param}'. A {message['role']} message has {', '.join(sorted(known))}.",
            )
        for key, kinds in (("name", str), ("refusal", str | None), ("audio", dict | None)):
            if key in message and not isinstance(message[key], kinds):
                param = f"messages.[{index}].{key}"
                yield index, param, f"Invalid type for '{param}': found {shown(message[key])}."


def text(messages: list[Message]) -> Findings:
    """Messages with a string, at any depth, that is not valid UTF-8 or holds a NUL."""
    for index, message in enumerate(messages):
        if problem := bad_text(message):
            yield index, f"messages.[{index}]", f"Invalid text in 'messages.[{index}]': {problem}."


def content(messages: list[Message]) -> Findings:
    """Content that is neither a string, nor a list of known parts, nor None beside calls."""
    for index, message in enumerate(messages):
        found, param = message.get("content"), f"messages.[{index}].content"
        if isinstance(found, str) or (found is None and "tool_calls" in message and message.get("role") == "assistant"):
            continue
        if not isinstance(found, list) or not found:
            expected = "a string or a non-empty list of parts (null only beside tool_calls)"
            yield index, param, f"Invalid value for '{param}': expected {expected}, found {shown(found)}."
            continue
        for place, part in enumerate(found):
            if problem := _bad_part(part):
                yield index, f"{param}.[{place}]", f"Invalid value for '{param}.[{place}]': {problem}."


def empty_assistant(messages: list[Message]) -> Findings:
    """Assistant messages that say nothing and call nothing."""
    for index, message in enumerate(messages):
        if message.get("role") == "assistant" and "tool_calls" not in message and not _has_text(message):
            param = f"messages.[{index}].content"
            found = shown(message.get("content"))
            yield index, param, f"Invalid '{param}': an assistant message needs text or tool_calls, found {found}."


def tool_calls(messages: list[Message]) -> Findings:
    """`tool_calls` that are not a non-empty list of {id, type, function: {name, arguments}}."""
    for index, message in _callers(messages):
        found, param = message["tool_calls"], f"messages.[{index}].tool_calls"
        if not isinstance(found, list) or not found:
            expected = "an array of objects with at least one element; leave the key out when there is no call"
            yield index, param, f"Invalid '{param}': expected {expected}, found {shown(found)}."
            continue
        for place, call in enumerate(found):
            for key, problem in _bad_call(call):
                where = f"{param}.[{place}]{key}"
                yield index, where, f"Invalid value for '{where}': {problem}."


def arguments(messages: list[Message]) -> Findings:
    """Arguments that are not a string with a JSON object in it."""
    for index, place, call in _calls(messages):
        function = call.get("function")
        found = function.get("arguments") if isinstance(function, dict) else None
        if isinstance(function, dict) and not _is_json_object(found):
            param = f"messages.[{index}].tool_calls.[{place}].function.arguments"
            yield (
                index,
                param,
                f"Invalid value for '{param}': expected a string with a JSON object, found {shown(found)}.",
            )


def repeated_id(messages: list[Message]) -> Findings:
    """Calls with an id that an earlier call of the same message has. In later groups an id may come again."""
    seen: set[tuple[int, str]] = set()
    for index, place, call in _calls(messages):
        found = call.get("id")
        if isinstance(found, str):
            if (index, found) in seen:
                param = f"messages.[{index}].tool_calls.[{place}].id"
                yield index, param, f"Duplicate value for 'tool_call_id' of {shown(found)} at '{param}'."
            seen.add((index, found))


def read_json(text: str) -> Any:
    """The value of a JSON text; ValueError when it is none, RecursionError when it is too deep."""

    def refuse(name: str) -> None:
        raise ValueError(f"{name} is no JSON")  # Python reads NaN and Infinity; JSON has neither

    return json.loads(text, parse_constant=refuse)


def shown(value: Any) -> str:
    """`value` as a short ASCII text for an error message."""
    if value is None:
        return "null"
    found = ascii(value[:60] if isinstance(value, str | list) else value)
    return found if len(found) <= 80 else found[:77] + "..."


def bad_text(value: Any) -> str | None:
    """What is wrong with the first bad string in `value` (keys included), or None."""
    stack = [value]
    while stack:
        found = stack.pop()
        if isinstance(found, dict):
            stack.extend(found.values())
            stack.extend(found.keys())
        elif isinstance(found, list):
            stack.extend(found)
        elif isinstance(found, str):
            if "\0" in found:
                return f"found a NUL in {shown(found)}"
            if not found.isascii() and (at := _surrogate(found)) is not None:
                return f"found the lone surrogate {found[at]!a} at character {at}, which UTF-8 cannot hold"
    return None


def _surrogate(found: str) -> int | None:
    try:
        found.encode()
    except UnicodeEncodeError as error:
        return error.start
    return None


def _known_role(found: Any) -> bool:
    return isinstance(found, str) and found in KEYS


def _callers(messages: list[Message]) -> Iterator[tuple[int, Message]]:
    for index, message in enumerate(messages):
        if message.get("role") == "assistant" and "tool_calls" in message:
            yield index, message


def _calls(messages: list[Message]) -> Iterator[tuple[int, int, Message]]:
    for index, message in _callers(messages):
        calls = message["tool_calls"]
        for place, call in enumerate(calls if isinstance(calls, list) else ()):
            if isinstance(call, dict):
                yield index, place, call


def _has_text(message: Message) -> bool:
    found = message.get("content")
    parts = found if isinstance(found, list) else [{"text": found}]
    texts = [part.get(key) for part in parts if isinstance(part, dict) for key in ("text", "refusal")]
    return any(isinstance(piece, str) and piece.strip() for piece in [*texts, message.get("refusal")])


def _bad_part(part: Any) -> str | None:
    kind = part.get("type") if isinstance(part, dict) else None
    if not isinstance(kind, str) or kind not in PART_KINDS:
        return f"expected a part of type {', '.join(PART_KINDS)}, found {shown(part)}"
    value = part.get(kind)
    if kind in ("text", "refusal"):
        good = isinstance(value, str)
    elif kind == "file":
        good = isinstance(value, dict) and bool(value)
    else:
        needed = ("url",) if kind == "image_url" else ("data", "format")
        good = isinstance(value, dict) and all(isinstance(value.get(key), str) and value[key] for key in needed)
    return None if good else f"a part of type {kind} needs a well-formed '{kind}', found {shown(value)}"


def _bad_call(call: Any) -> Iterator[tuple[str, str]]:
    if not isinstance(call, dict):
        yield "", f"expected an object, found {shown(call)}"
        return
    if not isinstance(call.get("id"), str) or not call["id"]:
        yield ".id", f"expected a non-empty string, found {shown(call.get('id'))}"
    if call.get("type") != "function":
        yield ".type", f"expected 'function', found {shown(call.get('type'))}"
    function = call.get("function")
    if not isinstance(function, dict):
        yield ".function", f"expected an object with name and arguments, found {shown(function)}"
    elif not isinstance(function.get("name"), str) or not function["name"]:
        yield ".function.name", f"expected a non-empty string, found {shown(function.get('name'))}"


def _is_json_object(found: Any) -> bool:
    try:
        return isinstance(found, str) and isinstance(read_json(found), dict)
    except (ValueError, RecursionError):
        return False
