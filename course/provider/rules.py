"""What a strict provider takes: one table, each rule with its sentence and its check.

A *group* is an assistant message with `tool_calls` and the tool messages that answer it:

    0 system      You are a careful agent.
    1 user        Read both files.
    2 assistant   calls a, b     ┐
    3 tool        result of b    │ one group: one result for each call, in any order, nothing between
    4 tool        result of a    ┘
    5 assistant   Done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from course.provider import message_rules, order_rules

Check = Callable[[list[dict[str, Any]]], Iterator[tuple[int | None, str, str]]]


@dataclass(frozen=True)
class Violation:
    """A rule that was broken: the message's index (None: the whole list), the parameter's path, what was found."""

    rule: str
    index: int | None
    param: str
    message: str


# The one table: name, sentence, check. Two rules stand outside: `messages` is looked at first, since all checks rely on
# it, and `parameters` belongs to the request around the messages (request.py).
TABLE: tuple[tuple[str, str, Check], ...] = (
    ("role", "A role is system, developer, user, assistant or tool.", message_rules.role),
    ("keys", "A message has only the keys that its role knows.", message_rules.keys),
    ("text", "Every string is valid UTF-8 and has no NUL.", message_rules.text),
    ("content", "Content is a string, a list of known parts, or None beside calls.", message_rules.content),
    ("empty_assistant", "An assistant message has text or calls.", message_rules.empty_assistant),
    ("tool_calls", "Calls are a non-empty list, each with an id, a type and a name.", message_rules.tool_calls),
    ("arguments", "Arguments are a string that holds a JSON object.", message_rules.arguments),
    ("repeated_id", "No id stands twice in one message.", message_rules.repeated_id),
    ("system_first", "There is at most one system message, and it is the first.", order_rules.system_first),
    ("user_first", "The first message that is not the system's is the user's.", order_rules.user_first),
    ("alternation", "No two neighbours have the same role, except tool after tool.", order_rules.alternation),
    ("orphan_result", "A tool message stands in a group and answers one of its calls.", order_rules.orphan_result),
    ("missing_result", "Every call is answered at once, with nothing between.", order_rules.missing_result),
    ("repeated_result", "No call is answered twice.", order_rules.repeated_result),
)
RULES: dict[str, str] = {
    "messages": "Messages are a non-empty list of objects.",
    "parameters": "A request has only known parameters, each of its type.",
    **{name: sentence for name, sentence, _ in TABLE},
}


def violations(messages: Any, *, strict_alternation: bool = True) -> list[Violation]:
    """All rules that `messages` breaks, in the order of the messages; [] when a strict provider takes them.

    `strict_alternation=False` gives the laxer providers, which take two users or two assistants in a row.
    """
    if broken := list(_not_a_list(messages)):
        return broken
    found = [
        Violation(rule, index, param, f"{message} (rule: {rule})")
        for rule, _, check in TABLE
        if strict_alternation or rule != "alternation"
        for index, param, message in check(messages)
    ]
    return sorted(found, key=lambda violation: -1 if violation.index is None else violation.index)


def _not_a_list(messages: Any) -> Iterator[Violation]:
    if not isinstance(messages, list) or not messages:
        what = "an empty list" if messages == [] else type(messages).__name__
        text = f"Invalid 'messages': expected a non-empty list of objects, found {what} (rule: messages)"
        yield Violation("messages", None, "messages", text)
        return
    for index, message in enumerate(messages):
        if not isinstance(message, dict):
            param = f"messages.[{index}]"
            text = f"Invalid type for '{param}': expected an object, found {type(message).__name__}"
            yield Violation("messages", index, param, f"{text} (rule: messages)")
