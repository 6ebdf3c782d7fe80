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

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from reference.ch01_agent_loop import WIRE_KEYS
from reference.messages import (
    SYSTEM_ROLES,
    Message,
    clean_content,
    clean_message,
    clean_value,
    has_text,
    parse_arguments,
)
from reference.pairing import key_of, pair_by_place, proper_calls


def _align_to_assistant_boundary(messages: Sequence[Message], index: int) -> int:
    """`index` moved forward past tool results, so that the part before the cut ends with whole groups.

    Example: in user, call, result, result, user the cuts 2 and 3 become 4; 0, 1, 4 and 5 stay. The end of the list is
    a cut too.
    """
    raise NotImplementedError("exercise 8.1: Move the head's cut forward past tool results.")


def _align_boundary_backward(messages: Sequence[Message], index: int) -> int:
    """`index` moved backward to the assistant message of its group, so that the part behind the cut keeps it whole.

    Example: in user, call, result, result, user the cuts 2 and 3 become 1; 0, 1, 4 and 5 stay.
    """
    raise NotImplementedError("exercise 8.2: Move the tail's cut backward to the assistant that made the calls.")


def tool_groups(messages: Sequence[Message]) -> list[tuple[int, int]]:
    """[start, stop) of each group: an assistant message with tool calls and the results right behind it.

    An empty list of calls makes no group; calls without a result are a group of one message.

    Example: system, user, call, result, result, user give [(2, 5)].
    """
    raise NotImplementedError("exercise 8.3: Find each assistant message with calls and the end of the results that follow it.")


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
    raise NotImplementedError("exercise 8.4: Check the form of each message, the order of the roles, and that each group is complete.")


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
    if proper_calls(calls) is not calls:
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
    wanted = Counter(key_of(call.get("id")) for call in calls if isinstance(call, dict))
    found = Counter(key_of(message.get("tool_call_id")) for message in group[1:])
    yield from (f"call {call_id!r} has no result right behind it" for call_id in wanted - found)
    yield from (f"result {call_id!r} answers no open call" for call_id in found - wanted)
