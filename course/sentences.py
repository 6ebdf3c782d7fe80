"""Each event of a timeline in one plain line; the same words in the terminal, in a replay and in a notebook."""

from __future__ import annotations

from collections import Counter
from typing import Any

from course.timeline import Event, Timeline

Data = dict[str, Any]


def line_of(timeline: Timeline, event: Event) -> str:
    """The line of an event, "" for a kind that is not told: what a tool gave shows in the next request."""
    teller = TELLERS.get(event.kind)
    return teller(timeline, event.data) if teller else ""


def style_of(event: Event) -> str:
    """The colour in which the line of an event is shown; the words say the same without it."""
    if event.kind == "compression":
        return "yellow" if event.data["outcome"] == "compressed" else "cyan"
    return {"refused": "red", "stuck": "red", "frequent": "yellow", "user": "bold"}.get(event.kind, "")


def counted(names: list[str]) -> str:
    """Names with how often each stands there: "read_file, todo_update ×2"."""
    return ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in Counter(names).items())


def _response(timeline: Timeline, data: Data) -> str:
    did = counted(data["tools"]) or "answers"
    tokens = f"prompt {data['prompt_tokens']:>7,}   cached {data['cached_tokens']:>7,}"
    return f"call {data['call']:>4}   {tokens}   {did}"


def _compression(timeline: Timeline, data: Data) -> str:
    layers = [f"pruning −{data['pruned']:,}"] if data["pruned"] else []
    if data["outcome"] == "compressed":
        layers.append(f"summary of {data['summarised']} messages −{data['summary']:,}")
    elif data["summary_failed"] or not data["pruned"]:
        layers.append(data["reason"])
    if data["clipped"]:
        layers.append(f"{data['clipped']} results clipped")
    return f"  compression: {data['before']:,} → {data['after']:,} tokens   ({'; '.join(layers)})"


def _user(timeline: Timeline, data: Data) -> str:
    text = str(timeline.messages[data["message"]].get("content"))
    return f"user: {text if len(text) <= 200 else text[:160] + f'… ({len(text):,} characters)'}"


def _refused(timeline: Timeline, data: Data) -> str:
    return f"refused with {data['status']}: {data['text']}"


def _session(timeline: Timeline, data: Data) -> str:
    return f"  {data['session']} goes on from {data['parent']}" if data["parent"] else ""


def _frequent(timeline: Timeline, data: Data) -> str:
    return f"warning: compression before each of the last {data['count']} requests; this window is small for the work"


def _stuck(timeline: Timeline, data: Data) -> str:
    return f"stuck: {data['text']}"


def _end(timeline: Timeline, data: Data) -> str:
    return f"the end ({data['stop_reason']}): {data['text']}" if data["text"] else f"the end: {data['stop_reason']}"


TELLERS = {
    "response": _response,
    "compression": _compression,
    "user": _user,
    "refused": _refused,
    "session": _session,
    "frequent": _frequent,
    "stuck": _stuck,
    "end": _end,
}
