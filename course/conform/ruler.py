"""The machine checks of a case, on a ruler of their own: characters by four, apart from our estimate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from course.conform.cases import Case

Message = dict[str, Any]

SYSTEM = ("system", "developer")


def text(message: Message) -> str:
    """The text of a message, parts on lines of their own."""
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join((part.get("text") or "") if isinstance(part, dict) else str(part) for part in content)


def tokens(messages: Sequence[Message]) -> int:
    """Characters by four, arguments and reasoning included, 16 more a message; a picture or a sound is 1,000."""
    return sum(map(_characters, messages)) // 4


def _characters(message: Message) -> int:
    content, calls = message.get("content"), message.get("tool_calls") or ()
    count = len(text(message)) + len(message.get("reasoning_content") or "") + 16
    if isinstance(content, list):
        kinds = ("image_url", "input_image", "input_audio")
        count += 4_000 * sum(isinstance(part, dict) and part.get("type") in kinds for part in content)
    functions = [call.get("function") or {} for call in calls]
    return count + sum(len(f.get("arguments") or "") + len(f.get("name") or "") for f in functions)


def problems(messages: Sequence[Message]) -> list[str]:
    """What a chat-completions server refuses; [] when it takes the list. Apart from the alternation of roles."""
    return [*_order_problems(messages), *_text_problems(messages)]


def _order_problems(messages: Sequence[Message]) -> Iterator[str]:
    """System messages that are not first, results without a call, and what is wrong with a group."""
    if all(message.get("role") in SYSTEM for message in messages):
        yield "nothing but system messages"
    index = 0
    while index < len(messages):
        role, stop = messages[index].get("role"), index + 1
        if role in SYSTEM and index and messages[index - 1].get("role") not in SYSTEM:
            yield f"{index}: a system message that is not at the head"
        elif role == "tool":
            yield f"{index}: a result without its call right before it"
        elif role == "assistant":
            while stop < len(messages) and messages[stop].get("role") == "tool":
                stop += 1
            stop = stop if messages[index].get("tool_calls") else index + 1
            yield from (f"{index}: {problem}" for problem in _group_problems(messages[index:stop]))
        index = stop


def _group_problems(group: Sequence[Message]) -> Iterator[str]:
    """What is wrong with an assistant message and the results behind it."""
    calls = group[0].get("tool_calls")
    if calls is not None and not calls:
        yield "tool_calls is an empty list"
    if not calls and not text(group[0]).strip():
        yield "an assistant message with neither text nor calls"
    ids = [call.get("id") for call in calls or ()]
    found = [message.get("tool_call_id") for message in group[1:]]
    if len(set(ids)) < len(ids):
        yield "one id twice in one message"
    yield from (f"the arguments of {call.get('id')} are no JSON object" for call in calls or () if not is_object(call))
    yield from (f"call {one} has {found.count(one) or 'no'} results" for one in ids if found.count(one) != 1)
    yield from (f"result {one} answers nothing" for one in found if one not in ids)


def is_object(call: Message) -> bool:
    """Whether a call's arguments are the text of a JSON object."""
    try:
        return isinstance(json.loads(call["function"]["arguments"]), dict)
    except (TypeError, KeyError, ValueError):
        return False


def _text_problems(messages: Sequence[Message]) -> Iterator[str]:
    for index, message in enumerate(messages):
        try:
            json.dumps(message, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            yield f"{index}: cannot be written as UTF-8"
        if "\0" in text(message):
            yield f"{index}: a NUL"


def _keeps_last_user(case: Case, result: list[Message], _: Any) -> bool:
    users = [text(message) for message in case.messages or () if message["role"] == "user"]
    return not users or any(message["role"] == "user" and text(message) == users[-1] for message in result)


def _keeps_system(case: Case, result: list[Message], _: Any) -> bool:
    wanted = next((text(message) for message in case.messages or () if message["role"] == "system"), "")
    found = [message for message in result if message["role"] == "system"]
    return len(found) == 1 and result[0] is found[0] and text(found[0]).startswith(wanted[:200])


def _in_order(case: Case, result: list[Message], parts: list[str]) -> bool:
    places = [all_text(result).find(part) for part in parts]
    return -1 not in places and places == sorted(places)


def all_text(messages: Sequence[Message]) -> str:
    """The texts of all messages, one behind the other."""
    return "\n".join(map(text, messages))


def _calls(messages: Sequence[Message]) -> list[Message]:
    return [call for message in messages for call in message.get("tool_calls") or ()]


# name -> check(case, result, argument): whether the list that came out is as it should be.
CHECKS: dict[str, Callable[[Case, list[Message], Any], bool]] = {
    "valid": lambda case, result, _: not problems(result),
    "keep_last_user": _keeps_last_user,
    "keep_system": _keeps_system,
    "keep_text": lambda case, result, wanted: wanted in all_text(result),
    "no_text": lambda case, result, unwanted: unwanted not in all_text(result),
    "text_count": lambda case, result, pair: all_text(result).count(pair[0]) == pair[1],
    "order": _in_order,
    "smaller": lambda case, result, _: tokens(result) < tokens(case.messages or ()),
    "not_larger": lambda case, result, _: tokens(result) <= tokens(case.messages or ()),
    "unchanged": lambda case, result, _: result == case.messages,
    "max_tokens": lambda case, result, most: tokens(result) <= most,
    "max_messages": lambda case, result, most: len(result) <= most,
    "result_count": lambda case, result, count: sum(message["role"] == "tool" for message in result) == count,
    "no_consecutive": lambda case, result, role: not any(a["role"] == b["role"] == role for a, b in pairwise(result)),
    "args_json": lambda case, result, _: all(map(is_object, _calls(result))),
}
