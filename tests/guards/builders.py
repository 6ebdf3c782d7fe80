"""Messages, histories and summarisers that the guards' tests are made of."""

from __future__ import annotations

import base64
import random

from reference.ch05_budget import estimate_message_tokens
from reference.ch09_summary import summary_message
from tests.conftest import call

SYSTEM, USER = {"role": "system", "content": "s"}, {"role": "user", "content": "u"}
BIG = "data " * 400
BLOB = base64.b64encode(random.Random(7).randbytes(30_000)).decode()


def summarize(turns, previous):
    return f"## Goal\n{len(turns)} turns"


def asks(*ids, tool="read_file"):
    return {"role": "assistant", "content": None, "tool_calls": [call(call_id, tool=tool) for call_id in ids]}


def result(call_id, text="r"):
    return {"role": "tool", "tool_call_id": call_id, "content": text}


def called(*calls, **more):
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


TEXT_PART = {"type": "text", "text": "t"}
REPLY = {"role": "assistant", "content": "x"}
READ = call("a")
UNKNOWN = {"name": "unknown", "arguments": "{}"}


def sized(role, tokens, **more):
    """A message that is estimated at so many tokens."""
    return {"role": role, "content": "x" * 4 * (tokens - 4), **more}


def groups(count, text=BIG, name="c"):
    """So many groups of one call and one result."""
    return [m for i in range(count) for m in (asks(f"{name}{i}"), result(f"{name}{i}", text))]


def never(turns, previous):
    raise AssertionError("a model was called")


class Teller:
    """A summariser that notes what it was given and says one thing."""

    def __init__(self, text="## Goal\nall"):
        self.text, self.turns, self.previous = text, [], []

    def __call__(self, turns, previous):
        self.turns.append(turns)
        self.previous.append(previous)
        return self.text


MIDDLE = [asks("a"), result("a", "r" * 400)]


def told(tokens):
    """A summariser whose message costs so many tokens."""
    return Teller("s" * 4 * (tokens - estimate_message_tokens(summary_message(""))))


def answered(*sizes):
    """A request and one group whose results have so many tokens."""
    names = [f"c{i}" for i in range(len(sizes))]
    results = [sized("tool", size, tool_call_id=name) for name, size in zip(names, sizes, strict=True)]
    return [SYSTEM, USER, asks(*names), *results]


def part(kind, value, **more):
    return {"type": kind, kind: value, **more}


def said(text):
    return {"type": "text", "text": text}


PICTURE, SOUND = part("image_url", {"url": "data:,x"}), part("input_audio", {"data": "d", "format": "wav"})
