"""Every event of a timeline in one plain sentence, also those that the terminal passes over in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course.sentences import counted, line_of
from course.timeline import Event, Timeline
from reference.messages import text_of

Data = dict[str, Any]
SHORT = 60  # characters of an argument that a sentence quotes


def sentence_of(timeline: Timeline, event: Event) -> str:
    """The sentence of an event; where a run holds something odd, a sentence that says so."""
    try:
        teller = TELLERS.get(event.kind)
        return teller(timeline, event.data) if teller else line_of(timeline, event).strip()
    except (AttributeError, KeyError, TypeError, ValueError, IndexError):
        return f"This event ({event.kind}) is damaged in the file and cannot be told."


def _run(timeline: Timeline, data: Data) -> str:
    files = f" of {data['files']} files in {data['where']}" if "files" in data and "where" in data else ""
    off = f" Switched off: {', '.join(data['without'])}." if data.get("without") else ""
    role = " The summary is a user message." if data.get("summary_role") == "user" else ""
    begins = f"compression begins at {data['trigger']:,}" if data.get("trigger") else "nothing is ever compressed"
    return (
        f"A run begins ({data['scenario']}{files}): {data['model']} has a window of {data['context_length']:,} tokens, "
        f"and {begins}.{off}{role}"
    )


def _session(timeline: Timeline, data: Data) -> str:
    if data["parent"]:
        return f"The compressed history is a session of its own: {data['session']} goes on from {data['parent']}."
    return f"A session begins: {data['session']}."


def _request(timeline: Timeline, data: Data) -> str:
    tokens = sum(data["parts"].values())
    return f"Request {data['call']} is sent: {len(data['messages'])} messages, about {tokens:,} tokens."


def _response(timeline: Timeline, data: Data) -> str:
    did = f"it calls {counted(data['tools'])}" if data["tools"] else "it answers, and the run is over"
    tokens = f"The prompt had {data['prompt_tokens']:,} tokens, {data['cached_tokens']:,} of them cached."
    return f"The model replies to request {data['call']}: {did}. {tokens}"


def _tool_start(timeline: Timeline, data: Data) -> str:
    arguments = data["arguments"] if isinstance(data["arguments"], dict) else {}
    short = ", ".join(f"{name}: {_short(value)}" for name, value in arguments.items())
    return f"The tool {data['tool']} runs{f' ({short})' if short else ''}."


def _short(value: Any) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= SHORT else text[:SHORT] + "…"


def _tool_end(timeline: Timeline, data: Data) -> str:
    text = " ".join(text_of(timeline.messages[data["message"]].get("content")).split())
    return f"Its result has {data['characters']:,} characters: {_short(text)}"


def _compression(timeline: Timeline, data: Data) -> str:
    change = f"{data['before']:,} tokens became {data['after']:,}"
    if data["outcome"] == "compressed":
        pruned = f" Pruning had cleared {data['pruned']:,} before." if data["pruned"] else ""
        return f"Compression: a summary replaces {data['summarised']} messages, and {change}.{pruned}"
    if data["outcome"] == "pruned":
        failed = f", since {data['reason']}" if data.get("summary_failed") else ""
        return f"Compression by pruning alone{failed}: old tool results were cleared, and {change}."
    clipped = f" {data['clipped']} results were clipped: {change}." if data.get("clipped") else ""
    return f"Compression changed nothing: {data['reason']}.{clipped}"


def _summary(timeline: Timeline, data: Data) -> str:
    wrote = f"wrote {data['completion_tokens']:,}"
    return f"The summariser, another model, has read {data['prompt_tokens']:,} tokens and {wrote}."


def _task_state(timeline: Timeline, data: Data) -> str:
    todos = data["todos"]
    done = sum(todo["status"] == "completed" for todo in todos)
    now = next((f" Now: ({todo['id']}) {todo['subject']}." for todo in todos if todo["status"] == "in_progress"), "")
    return f"The task state says: {done} of {len(todos)} items completed.{now}"


def _end(timeline: Timeline, data: Data) -> str:
    if data["stop_reason"] == "refused":
        return "The end: the provider refused the request, and the agent has nothing else to send."
    return f"The end ({data['stop_reason']}): {data['text']}" if data["text"] else f"The end: {data['stop_reason']}."


TELLERS: dict[str, Callable[[Timeline, Data], str]] = {
    "run": _run,
    "session": _session,
    "request": _request,
    "response": _response,
    "tool_start": _tool_start,
    "tool_end": _tool_end,
    "compression": _compression,
    "summary": _summary,
    "task_state": _task_state,
    "end": _end,
}
