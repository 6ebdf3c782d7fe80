"""Small histories for notebooks, made to measure, and messages as text.

conversation(["result", "result"])     a small sound history
call_tool("read_file", {"path": ""})   an assistant message that calls a tool
show(messages)                         one line a message
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

from reference.messages import Message, text_length, text_of

LINE = 72


def call_tool(name: str, *arguments: dict[str, Any] | str, text: str | None = None, start: int = 0) -> Message:
    """An assistant message that calls the tool `name` once for each of `arguments`: a dict, or JSON text as it is."""
    raw = [one if isinstance(one, str) else json.dumps(one) for one in arguments or ({},)]
    calls = [_call(f"call_{start + number}", name, one) for number, one in enumerate(raw)]
    return {"role": "assistant", "content": text, "tool_calls": calls}


def _call(call_id: str, name: str, arguments: str) -> Message:
    """One entry of `tool_calls`."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def conversation(
    results: Sequence[Any], parallel: int = 1, reply: str | None = None, *, request: str = "Read the files."
) -> list[Message]:
    """A sound history: a system prompt, a request, a group for each `parallel` results, and a reply if given."""
    messages: list[Message] = [
        {"role": "system", "content": "You are a careful agent."},
        {"role": "user", "content": request},
    ]
    for start in range(0, len(results), parallel):
        batch = results[start : start + parallel]
        paths = [{"path": f"{start + number}.md"} for number in range(len(batch))]
        asks = call_tool("read_file", *paths, start=start)
        messages.append(asks)
        for call, text in zip(asks["tool_calls"], batch, strict=True):
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    if reply:
        messages.append({"role": "assistant", "content": reply})
    return messages


def show(messages: Sequence[Message], mark: Collection[int] = ()) -> str:
    """The messages as text, one line each: place, role, what is in it; those in `mark` with a sign in front."""
    return "\n".join(_line(place, message, place in mark) for place, message in enumerate(messages))


def _line(place: int, message: Message, marked: bool) -> str:
    """One message on one line."""
    calls = message.get("tool_calls") or ()
    made = ", ".join(f"{call['function']['name']}({call['function']['arguments']})" for call in calls)
    text = " ".join(text_of(message.get("content")).split())
    length = text_length(message.get("content"))
    if len(text) > LINE:
        text = f"{text[: LINE - 24]}… ({length:,} characters)"
    body = " -> ".join(part for part in (text, made) if part)
    return f"{'>' if marked else ' '} {place:>3} {message.get('role', '?'):<10} {body}".rstrip()
