"""Calls and results, paired by place: what several chapters build on, and chapter 8 explains.

Ids repeat in real life, results come late, roles are those of other programs. One pass over the messages brings roles
and groups in order; a stretch in which every group stands as it should is taken over as it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from itertools import count
from typing import Any

from reference.messages import GENERATED, SYSTEM_ROLES, UNKNOWN_ROLE, Message, as_call, as_text

ROLES = (*SYSTEM_ROLES, "user", "assistant", "tool")
ROLES_ELSEWHERE = {"model": "assistant", "ai": "assistant", "human": "user"}
LEGACY_CALL = "function_call"
STUB_RESULT = "[No result was recorded for this call: it did not run to its end.]"


class _Group:
    """An assistant message with calls, the results that came for it, and the calls that are still open."""

    def __init__(self, assistant: Message) -> None:
        self.assistant = assistant
        self.results: list[Message] = []
        self.open = dict.fromkeys(call["id"] for call in assistant["tool_calls"])

    def stubs(self) -> list[Message]:
        """A marked result for each call that has none, in the order of the calls."""
        return [{"role": "tool", "tool_call_id": i, "content": STUB_RESULT, GENERATED: "stub"} for i in self.open]


_Waiting = dict[str, deque[tuple[_Group, str]]]  # for an id the open calls that bear it, the nearest first


def pair_by_place(messages: Iterable[Message], *, in_flight: bool = False) -> tuple[list[Message], int]:
    """(the messages with roles and groups in order, the number of repairs); no text is looked at.

    One pass: each result goes to the latest call with its id that is not answered yet, and uses it up. A group that
    stands as it should, the rule in all but broken histories, is taken over as it is.
    """
    messages = messages if isinstance(messages, list) else list(messages)
    system: list[Message] = []
    slots: list[Message | _Group] = []
    waiting: _Waiting = {}
    groups: list[int] = []  # their places in `slots`
    last: _Group | None = None
    repairs = index = 0
    while index < len(messages):
        stop = _orderly_end(messages, index)
        if stop > index:
            stretch: list[Any] = messages[index:stop]
            last = last if all(message["role"] == "user" for message in stretch) else None
            index = stop
            if slots:
                slots += stretch
            else:
                slots = stretch  # often the whole list: not copied again
            continue
        message = _in_our_form(messages[index])
        repairs += message is not messages[index]
        role, index = message.get("role"), index + 1
        if role == "tool":
            repairs += _take_result(message, waiting, slots)
        elif role == "assistant":
            last, repaired = _take_assistant(message, waiting, slots)
            repairs += repaired
            groups += [len(slots) - 1] if last else []
        elif role in SYSTEM_ROLES:
            repairs += bool(system or slots)
            system.append(message)
        else:
            slots.append(message)
    body, stubs = _laid_out(slots, groups, last if in_flight else None)
    if system:
        body.insert(0, system[0] if len(system) == 1 else _folded(system))
    return body, repairs + stubs


def _in_our_form(message: Message) -> Message:
    """The message in today's form: older and other APIs have roles and calls of their own; an unknown role is a user.

    The one call of the older form has no id: all get the same, since calls and results are paired by place.
    """
    role, call = message.get("role"), message.get("function_call")
    if not isinstance(role, str):
        role = ""
    if role == "function":
        return message | {"role": "tool", "tool_call_id": LEGACY_CALL}
    if role == "assistant" and isinstance(call, dict) and not message.get("tool_calls"):
        rest = {key: value for key, value in message.items() if key != "function_call"}
        return rest | {"tool_calls": [{"id": LEGACY_CALL, "type": "function", "function": call}]}
    if role in ROLES_ELSEWHERE:
        return message | {"role": ROLES_ELSEWHERE[role]}
    if role in ROLES:
        return message
    return message | {"role": "user", GENERATED: UNKNOWN_ROLE}


def _orderly_end(messages: list[Message], index: int) -> int:
    """The end of the stretch from `index` in which every group stands as it should."""
    count = len(messages)
    while index < count and "role" in (message := messages[index]):
        role = message["role"]
        if role == "user" or (role == "assistant" and not ("tool_calls" in message or "function_call" in message)):
            index += 1
            continue
        calls = message.get("tool_calls") if role == "assistant" else None
        if not calls or not _is_complete(calls, messages, index + 1):
            break
        index += 1 + len(calls)
    return index


def _laid_out(slots: list[Any], groups: list[int], in_flight: _Group | None) -> tuple[list[Message], int]:
    """(the messages, each group with its results and stubs, the number of stubs); a group in flight gets none."""
    if not groups:
        return slots, 0
    body: list[Message] = []
    stubs = done = 0
    for place in groups:
        group = slots[place]
        missing = [] if group is in_flight else group.stubs()
        body += [*slots[done:place], group.assistant, *group.results, *missing]
        stubs, done = stubs + len(missing), place + 1
    return body + slots[done:], stubs


def _is_complete(calls: list[Message], messages: list[Message], index: int) -> bool:
    """Whether the results from `index` on answer the calls, each in its place, with ids of their own."""
    try:
        for place, call in enumerate(calls, index):
            call_id, result = call["id"], messages[place]
            if call_id != result["tool_call_id"] or result["role"] != "tool" or not isinstance(call_id, str):
                return False
        ids = {call["id"] for call in calls} if len(calls) != 1 else (call_id,)
    except (TypeError, KeyError, IndexError):  # no call, no result, or not as many
        return False
    return 0 < len(ids) == len(calls) and "" not in ids


def _take_result(message: Message, waiting: _Waiting, slots: list[Message | _Group]) -> int:
    """Give a result to the call that waits for it, or drop it; returns the number of repairs."""
    queue = waiting.get(key_of(message.get("tool_call_id")))
    if not queue:
        return 1
    group, call_id = queue.popleft()
    del group.open[call_id]
    renamed = call_id != message.get("tool_call_id")
    group.results.append(message | {"tool_call_id": call_id} if renamed else message)
    return int(renamed) + (slots[-1] is not group)


def _take_assistant(message: Message, waiting: _Waiting, slots: list[Message | _Group]) -> tuple[_Group | None, int]:
    """Append an assistant message and let its calls wait for results; returns its group, if any, and the repairs."""
    calls = message.get("tool_calls")
    if not isinstance(calls, list) or not calls:
        broken = calls is not None  # an empty list, which no provider takes, or no list at all
        slots.append({key: message[key] for key in message if key != "tool_calls"} if broken else message)
        return None, int(broken)
    proper = proper_calls(calls)
    if proper is not calls:
        message = message | {"tool_calls": proper}
    group = _Group(message)
    slots.append(group)
    keys = [key_of(call.get("id") if isinstance(call, dict) else None) for call in calls]
    for key, call in reversed(list(zip(keys, proper, strict=True))):
        waiting.setdefault(key, deque()).appendleft((group, call["id"]))
    return group, int(proper is not calls)


def proper_calls(calls: list[Any]) -> list[Message]:
    """The calls with an id of their own each, a type and a name; the same list where all have them."""
    seen: set[str] = set()
    proper: list[Message] = []
    for call in calls:
        call = as_call(call)
        function = call["function"] if isinstance(call.get("function"), dict) else {}
        name = function.get("name")
        if not (isinstance(name, str) and name and call.get("type") == "function"):
            call = call | {"type": "function", "function": function | {"name": as_text(name or "unknown")}}
        call_id = call.get("id")
        if not isinstance(call_id, str) or not call_id or call_id in seen:
            call = call | {"id": _fresh_id(call_id, seen)}
        seen.add(call["id"])
        proper.append(call)
    return proper if any(new is not old for new, old in zip(proper, calls, strict=True)) else calls


def _fresh_id(call_id: Any, seen: set[str]) -> str:
    """An id that no call of this message bears, made from the one it had."""
    base = call_id if isinstance(call_id, str) and call_id else "call"
    return next(name for n in count(len(seen) + 1) if (name := f"{base}#{n}") not in seen)


def key_of(call_id: Any) -> str:
    """An id as a dictionary key, whatever a broken history has in its place."""
    return call_id if isinstance(call_id, str) else repr(call_id)


def _folded(system: list[Message]) -> Message:
    """The first system message with the contents of the later ones behind its own."""
    contents = [message.get("content") or "" for message in system]
    if all(isinstance(content, str) for content in contents):
        return system[0] | {"content": "\n\n".join(filter(None, contents))}
    parts = [part for content in contents for part in (content if isinstance(content, list) else [content]) if part]
    return system[0] | {"content": parts}
