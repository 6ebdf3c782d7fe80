"""The rules about which message may stand where. Each check yields (index, param, text) for every place that breaks it.

`developer` is another word for `system`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from course.provider.message_rules import Findings, Message, shown


@dataclass(frozen=True)
class Group:
    """An assistant with calls at `start` and the tool messages right behind it, up to but without `stop`."""

    start: int
    stop: int
    ids: tuple[str, ...]


def system_first(messages: list[Message]) -> Findings:
    """System messages anywhere but in the first place."""
    for index, message in enumerate(messages):
        if index and _role(message) == "system":
            param = f"messages.[{index}].role"
            text = "a system message may only be the first message, and there is at most one"
            yield index, param, f"Invalid parameter: '{param}': {text}."


def user_first(messages: list[Message]) -> Findings:
    """The first message that is not system, if it is not the user's; or nothing, if there is none."""
    first = next((i for i, message in enumerate(messages) if _role(message) != "system"), None)
    if first is None:
        yield None, "messages", "Invalid 'messages': expected a user message, found only a system message."
    elif _role(messages[first]) != "user":
        param, found = f"messages.[{first}].role", shown(messages[first].get("role"))
        yield first, param, f"Invalid parameter: '{param}': the conversation must begin with 'user', found {found}."


def alternation(messages: list[Message]) -> Findings:
    """Messages with the role of the one before, but tool after tool."""
    for index in range(1, len(messages)):
        role = _role(messages[index])
        if role in ("user", "assistant") and role == _role(messages[index - 1]):
            param = f"messages.[{index}].role"
            text = f"roles must alternate, found '{role}' after '{role}'"
            yield index, param, f"Invalid parameter: '{param}': {text}."


def orphan_result(messages: list[Message]) -> Findings:
    """Tool messages outside a group, or with an id that is none of its calls."""
    group_of = {index: group for group in groups(messages) for index in range(group.start + 1, group.stop)}
    for index, message in enumerate(messages):
        if _role(message) != "tool":
            continue
        found = message.get("tool_call_id")
        if index not in group_of:
            param = f"messages.[{index}].role"
            text = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            yield index, param, f"Invalid parameter: {text}, found none before '{param}'."
        elif not isinstance(found, str) or found not in group_of[index].ids:
            param = f"messages.[{index}].tool_call_id"
            text = f"{shown(found)} not found in 'tool_calls' of messages.[{group_of[index].start}]"
            yield index, param, f"Invalid parameter: '{param}': 'tool_call_id' of {text}."


def missing_result(messages: list[Message]) -> Findings:
    """Assistant messages of which a call has no result in the messages right behind."""
    for group in groups(messages):
        answered = {_result_id(messages[i]) for i in range(group.start + 1, group.stop)}
        missing = [found for found in group.ids if found not in answered]
        if missing:
            text = (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {_listed(missing)}"
            )
            param = f"messages.[{group.start}].tool_calls"
            yield group.start, param, f"{text}, asked for in '{param}'."


def repeated_result(messages: list[Message]) -> Findings:
    """Tool messages with an id that an earlier one of the same group has answered."""
    for group in groups(messages):
        seen: set[str] = set()
        for index in range(group.start + 1, group.stop):
            found = _result_id(messages[index])
            if found in seen and found in group.ids:
                param = f"messages.[{index}].tool_call_id"
                yield index, param, f"Invalid parameter: '{param}': the call {shown(found)} already has a result."
            seen.add(found)


def groups(messages: list[Message]) -> Iterator[Group]:
    """Every assistant message with calls, with the run of tool messages behind it."""
    stop = 0
    for start, message in enumerate(messages):
        calls = message.get("tool_calls") if _role(message) == "assistant" else None
        if start < stop or not isinstance(calls, list) or not calls:
            continue
        stop = start + 1
        while stop < len(messages) and _role(messages[stop]) == "tool":
            stop += 1
        ids = tuple(call["id"] for call in calls if isinstance(call, dict) and isinstance(call.get("id"), str))
        yield Group(start, stop, ids)


def _listed(ids: list[str]) -> str:
    return ", ".join(ascii(found)[1:-1] for found in ids[:8]) + (", ..." if len(ids) > 8 else "")


def _result_id(message: Message) -> str:
    found: Any = message.get("tool_call_id")
    return found if isinstance(found, str) else ""


def _role(message: Message) -> Any:
    found = message.get("role")
    return "system" if found == "developer" else found
