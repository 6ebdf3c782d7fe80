"""The histories of the bench: seeded tool-using sessions in two shapes, and the recorded transcripts, cut to a size.

This module and the subjects run in the environments of other libraries: they import the standard library only.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

Message = dict[str, Any]

SHAPES = ("turns", "one turn", "recorded")
WORDS = (
    "path config error trace line module import test pass fail retry user token cache request response header body "
    "parse index row column table query latency worker thread queue commit branch merge patch build release server "
    "client socket port timeout signal memory the a of is was and to in"
)
TOOLS = ("read_file", "run_shell", "grep", "write_file", "web_fetch")
MIN_RECORDED = 20
REPLY_SHARE = 0.10  # of the groups end with a reply and a new request, in the shape of several turns


def generate(size: int, seed: int = 7, several_turns: bool = True) -> list[Message]:
    """Exactly `size` messages, at least 4: calls with one to three results, ending with results, as one compresses."""
    rng = random.Random(seed)
    text = _texts(rng)
    messages: list[Message] = [
        {"role": "system", "content": "You are a careful coding agent. " + text(400, 800)},
        {"role": "user", "content": "Task: " + text(100, 400)},
    ]
    while size - len(messages) >= 2:
        room = size - len(messages)
        count = min(rng.randint(1, 3), room - 1)
        count += int(room - 1 - count == 1)  # never leave a single free place
        messages += _group(len(messages), count, rng, text)
        if several_turns and rng.random() < REPLY_SHARE and size - len(messages) >= 4:
            messages.append({"role": "assistant", "content": "Done: " + text(80, 300)})
            messages.append({"role": "user", "content": "Next: " + text(40, 300)})
    return messages


def _texts(rng: random.Random) -> Callable[[int, int], str]:
    """A function that cuts a piece of text of a length between two numbers."""
    words = WORDS.split()
    base = " ".join(rng.choice(words) for _ in range(40_000))

    def text(least: int, most: int) -> str:
        length = rng.randint(least, most)
        start = rng.randint(0, len(base) - length - 1)
        return base[start : start + length]

    return text


def _group(number: int, count: int, rng: random.Random, text: Callable[[int, int], str]) -> list[Message]:
    """An assistant message with `count` calls, and their results."""
    calls: list[Message] = []
    for place in range(count):
        arguments = json.dumps({"path": f"src/mod_{rng.randint(1, 60)}.py", "q": text(10, 60)})
        function = {"name": rng.choice(TOOLS), "arguments": arguments}
        calls.append({"id": f"call_{number}_{place}", "type": "function", "function": function})
    results = [
        {"role": "tool", "tool_call_id": call["id"], "name": call["function"]["name"], "content": text(200, 4_000)}
        for call in calls
    ]
    return [{"role": "assistant", "content": text(0, 160), "tool_calls": calls}, *results]


def stitched(transcripts: Iterable[list[Message]], size: int) -> list[Message]:
    """About `size` messages made of recorded ones: whole transcripts behind the first one's system prompt, repeated.

    It ends where a message may end: never between a call and its results.
    """
    pool = list(transcripts)
    messages = [message for message in pool[0] if message.get("role") == "system"][:1]
    while len(messages) < size:
        for transcript in pool:
            messages += [dict(message) for message in transcript if message.get("role") != "system"]
    while len(messages) > size or messages[-1].get("role") == "assistant":
        messages.pop()
    while messages[-1].get("role") == "tool" and size < 4:
        messages.pop()
    return messages


def read_transcripts(folder: Path | None) -> list[list[Message]]:
    """The recorded transcripts of a folder with at least 20 messages, in the order of their names.

    In a shorter one there is mostly nothing but what must stay. A file that holds no transcript is passed over.
    """
    found = [_messages_in(path) for path in sorted(folder.glob("*.json"))] if folder else []
    return [messages for messages in found if len(messages) >= MIN_RECORDED]


def _messages_in(path: Path) -> list[Message]:
    """The messages of a transcript file, [] where there are none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    messages = data.get("messages") if isinstance(data, dict) else data
    return messages if isinstance(messages, list) and all(isinstance(one, dict) for one in messages) else []


def plain(content: Any) -> str:
    """Content as one text, for libraries with parts of another form."""
    if not isinstance(content, list):
        return content or ""
    return "\n".join(str(part.get("text") or "") if isinstance(part, dict) else str(part) for part in content)


def characters(messages: Iterable[Message]) -> int:
    """The floor: one pass that reads the length of every content and of every call's arguments."""
    count = 0
    for message in messages:
        count += len(message.get("content") or "")
        for call in message.get("tool_calls") or ():
            count += len(call["function"]["arguments"])
    return count


def tokens(messages: Iterable[Message]) -> int:
    """Tokens by one ruler for everybody: characters by four, content and arguments."""
    return characters(messages) // 4
