"""Chapter 8 · Alignment: groups are atomic, and what arrives broken is repaired.

An assistant message with tool calls and the results that answer it are one group. A provider refuses a history in which
a result has no call before it, or a call no result behind it, so no cut may fall inside a group.

    user  [ call a  call b | result a   result b ]  user  [ call c | result c ]
                           ^ a cut here leaves two results without their calls: 400

The head's cut moves forward, past the results; the tail's cut moves backward, to the group's assistant: the results
that the model asked for last must not fall into the middle before it has read them.

Histories arrive broken all the same: a crash left a call without a result, a relay reset the ids, a user spoke while a
tool ran. Ids repeat in real life, so calls and results are paired by place: a result belongs to the nearest call before
it that bears its id, and uses that call up.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from reference.ch01_agent_loop import WIRE_KEYS
from reference.messages import (
    GENERATED,
    SYSTEM_ROLES,
    UNKNOWN_ROLE,
    Message,
    as_call,
    as_text,
    clean_content,
    clean_message,
    clean_value,
    has_text,
    parse_arguments,
)

LEGACY_CALL = "function_call"
ROLES_ELSEWHERE = {"model": "assistant", "ai": "assistant", "human": "user"}
STUB_RESULT = "[No result was recorded for this call: it did not run to its end.]"


def _align_to_assistant_boundary(messages: Sequence[Message], index: int) -> int:
    """`index` moved forward past tool results, so that the part before the cut ends with whole groups.

    Example: in user, call, result, result, user the cuts 2 and 3 become 4; 0, 1, 4 and 5 stay. The end of the list is
    a cut too.
    """
    # BEGIN EXERCISE 8.1 Move the head's cut forward past tool results.
    while index < len(messages) and messages[index].get("role") == "tool":
        index += 1
    return index
    # END EXERCISE 8.1


def _align_boundary_backward(messages: Sequence[Message], index: int) -> int:
    """`index` moved backward to the assistant message of its group, so that the part behind the cut keeps it whole.

    Example: in user, call, result, result, user the cuts 2 and 3 become 1; 0, 1, 4 and 5 stay.
    """
    # BEGIN EXERCISE 8.2 Move the tail's cut backward to the assistant that made the calls.
    while 0 < index < len(messages) and messages[index].get("role") == "tool":
        index -= 1
    return index
    # END EXERCISE 8.2


def tool_groups(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """[start, stop) of each group: an assistant message with tool calls and the results right behind it.

    An empty list of calls makes no group; calls without a result are a group of one message.

    Example: system, user, call, result, result, user give [(2, 5)].
    """
    # BEGIN EXERCISE 8.3 Find each assistant message with calls and the end of the results that follow it.
    groups = []
    for start, message in enumerate(messages):
        if message.get("role") == "assistant" and message.get("tool_calls"):
            groups.append((start, _align_to_assistant_boundary(messages, start + 1)))
    return groups
    # END EXERCISE 8.3


def sanitize_tool_pairs(messages: Iterable[Message], *, in_flight: bool = False) -> tuple[list[Message], int]:
    """(the repaired messages, the number of repairs): every call answered by one result right behind it.

    Results without a call are dropped; calls without a result get a marked stub; whatever stood inside a group goes
    behind it. Later system messages are folded into the first. An assistant message that says nothing gets a marked
    text. Arguments become JSON objects, text becomes sendable. With `in_flight` the last group may stay open: its
    results are on their way. The input is not changed; messages that need no repair are the same objects. Never raises.
    """
    paired, repairs = pair_by_place(messages, in_flight=in_flight)
    cleaned = [clean_message(message) for message in paired]
    return cleaned, repairs + sum(new is not old for new, old in zip(cleaned, paired, strict=True))


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
    if role in WIRE_KEYS:
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
    queue = waiting.get(_key(message.get("tool_call_id")))
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
    proper = _proper_calls(calls)
    if proper is not calls:
        message = message | {"tool_calls": proper}
    group = _Group(message)
    slots.append(group)
    keys = [_key(call.get("id") if isinstance(call, dict) else None) for call in calls]
    for key, call in reversed(list(zip(keys, proper, strict=True))):
        waiting.setdefault(key, deque()).appendleft((group, call["id"]))
    return group, int(proper is not calls)


def _proper_calls(calls: list[Any]) -> list[Message]:
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


def _key(call_id: Any) -> str:
    """An id as a dictionary key, whatever a broken history has in its place."""
    return call_id if isinstance(call_id, str) else repr(call_id)


def _folded(system: list[Message]) -> Message:
    """The first system message with the contents of the later ones behind its own."""
    contents = [message.get("content") or "" for message in system]
    if all(isinstance(content, str) for content in contents):
        return system[0] | {"content": "\n\n".join(filter(None, contents))}
    parts = [part for content in contents for part in (content if isinstance(content, list) else [content]) if part]
    return system[0] | {"content": parts}


def validate_messages(messages: Sequence[Message]) -> list[str]:
    """What a strict provider would refuse, a sentence each with the message's position; [] when it takes the list.

    `messages` are in the form that `to_wire` gives. The rules: one system message at most, and first; then a user
    message; no two neighbours of one role but tool after tool; every call answered right behind it by exactly one
    result; ids unique within a message; arguments a JSON object; an assistant with text or calls; content a string, a
    list of known parts, or None beside calls; nothing that is no valid UTF-8, and no NUL.

    `form_problems(message)`, `_order_problems(before, message, index)` (`before` is None for the first message) and
    `_group_problems(group)` look at one message, at two neighbours, and at one group.

    Example: [user, user] gives ["messages[1]: two user messages in a row"]; a list without any message that is not a
    system message gives "there is no user message".
    """
    # BEGIN EXERCISE 8.4 Check the form of each message, the order of the roles, and that each group is complete.
    problems = [f"messages[{i}]: {problem}" for i, message in enumerate(messages) for problem in form_problems(message)]
    body = [i for i, message in enumerate(messages) if message.get("role") not in SYSTEM_ROLES]
    if not body:
        problems.append("there is no user message")
    for index, (before, message) in enumerate(zip([None, *messages], messages, strict=False)):
        problems += [f"messages[{index}]: {problem}" for problem in _order_problems(before, message, index)]
    for start, stop in tool_groups(messages):
        problems += [f"messages[{start}]: {problem}" for problem in _group_problems(messages[start:stop])]
    return problems
    # END EXERCISE 8.4


def form_problems(message: Message) -> Iterator[str]:
    """What is wrong with one message on its own."""
    role, content, calls = message.get("role"), message.get("content"), message.get("tool_calls")
    if not isinstance(role, str) or role not in WIRE_KEYS:
        yield f"unknown role {role!r}"
        return
    if unknown := message.keys() - WIRE_KEYS[role]:
        yield f"unknown keys {sorted(unknown)}"
    for key in ("name", "tool_call_id", "refusal"):
        if key in message and not isinstance(message[key], str):
            yield f"{key} must be a text"
    if "tool_calls" in message and not (isinstance(calls, list) and calls):
        yield "tool_calls is empty: leave the key out"
    if role == "assistant" and not calls and not has_text(message):
        yield "an assistant message needs text or tool calls"
    elif not (content is None and calls) and clean_content(content) is not content:
        yield "content must be a text, a list of known parts, or None beside tool calls"
    if clean_value(message) is not message:
        yield "text that is no valid UTF-8, or NUL"
    if calls and isinstance(calls, list):
        yield from _call_problems(calls)


def _call_problems(calls: list[Any]) -> Iterator[str]:
    """What is wrong with the calls of one message."""
    if _proper_calls(calls) is not calls:
        yield "every call needs an id of its own, the type 'function' and a name"
    elif any(
        not isinstance(raw := call["function"].get("arguments"), str) or parse_arguments(raw) is None for call in calls
    ):
        yield "arguments must be the text of a JSON object"


def _order_problems(before: Message | None, message: Message, index: int) -> Iterator[str]:
    """What is wrong with a message behind the one before it."""
    role, previous = message.get("role"), before.get("role") if before else None
    if role in SYSTEM_ROLES and index:
        yield "a system message must be the first"
    if role == "assistant" and (previous is None or previous in SYSTEM_ROLES):
        yield "the first message after the system prompt must be a user's"
    if role == previous and role in ("user", "assistant"):
        yield f"two {role} messages in a row"
    if role == "tool" and not (previous == "tool" or (before and before.get("tool_calls"))):
        yield "a result without a call right before it"


def _group_problems(group: Sequence[Message]) -> Iterator[str]:
    """Calls of one group without exactly one result, and results that answer none of its calls."""
    calls = group[0]["tool_calls"] if isinstance(group[0]["tool_calls"], list) else ()
    wanted = Counter(_key(call.get("id")) for call in calls if isinstance(call, dict))
    found = Counter(_key(message.get("tool_call_id")) for message in group[1:])
    yield from (f"call {call_id!r} has no result right behind it" for call_id in wanted - found)
    yield from (f"result {call_id!r} answers no open call" for call_id in found - wanted)
