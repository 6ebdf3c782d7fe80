"""The other panels of the picture as HTML: the sentence, the TODO list, the last events, the counters, a refusal."""

from __future__ import annotations

from typing import Any

from course.frame import Frame
from course.picture import MARKS
from course.replay.pieces import Pieces, text
from course.replay.scene import Scene
from course.timeline import Event, Timeline
from reference.messages import text_of

ITEMS = 5
LINES = 6
SUBJECT = 44  # characters
SENTENCE = 190  # characters; the provider's whole error has a panel of its own


def sentence_panel(scene: Scene) -> Pieces:
    """The event in one plain sentence."""
    sentence = scene.sentence if len(scene.sentence) <= SENTENCE else scene.sentence[:SENTENCE] + "…"
    kind = scene.event.kind
    return [f'<p class="cc-say cc-{text(kind)}">', text(sentence or kind), "</p>"]


def todo_panel(frame: Frame) -> Pieces:
    """The goal, and the items around the first that is not completed."""
    pieces = ['<section class="cc-todo">']
    if not frame.todos:
        words = "nothing recorded" if "task-state" not in frame.run.get("without", ()) else "switched off"
        return [*pieces, f"<h3>Task state: {words}</h3></section>"]
    done = sum(todo.get("status") == "completed" for todo in frame.todos)
    first = next((i for i, todo in enumerate(frame.todos) if todo.get("status") != "completed"), len(frame.todos))
    start = max(0, min(first - 1, len(frame.todos) - ITEMS))
    pieces += [f"<h3>Task state: {done} of {len(frame.todos)} completed</h3>", f"<p>{text(frame.goal)}</p>"]
    for place, todo in enumerate(frame.todos[start : start + ITEMS], start):
        mark = MARKS.get(str(todo.get("status")), "[?]")
        now = ' class="cc-now"' if place == first else ""
        pieces.append(f"<p{now}><code>{mark}</code> ({text(todo.get('id'))}) {text(_end_of(todo.get('subject')))}</p>")
    return [*pieces, "</section>"]


def _end_of(subject: Any) -> str:
    """A subject, of a long one the end: of a path that is what tells it from the next."""
    words = str(subject)
    return words if len(words) <= SUBJECT else "…" + words[-SUBJECT:]


def lines_panel(frame: Frame) -> Pieces:
    """The last events in the words of the terminal."""
    lines = [f"<p>{text(line)}</p>" for line, _ in frame.lines[-LINES:]]
    return ['<section class="cc-lines"><h3>Last events</h3>', *lines, "</section>"]


def counters_panel(frame: Frame) -> Pieces:
    """The counters, and at the end what the report came to."""
    count = frame.counters
    cached = count.cached_tokens / max(1, count.prompt_tokens)
    cells = [
        f"calls <b>{count.calls:,}</b>",
        f"tokens sent <b>{count.prompt_tokens:,}</b> ({cached:.0%} cached)",
        f"summaries <b>{count.summaries:,}</b>",
        f"prunings <b>{count.prunings:,}</b>",
        f"refused <b>{count.refused:,}</b>",
        f"sessions <b>{count.sessions:,}</b>",
        *_result(frame.end.get("result")),
    ]
    return ['<p class="cc-count">', *(f"<span>{cell}</span> " for cell in cells), "</p>"]


def _result(result: Any) -> Pieces:
    """What the report came to, where a run has one."""
    if not isinstance(result, dict) or "right" not in result:
        return []
    again = f", <b>{result['read_twice']:,}</b> files read again" if result.get("read_twice") else ""
    return [f"report <b>{result['right']:,} of {result.get('files', 0):,}</b> right{again}"]


def refusal_panel(timeline: Timeline, refusal: Event) -> Pieces:
    """The provider's own error, and the messages around the one at fault."""
    data = refusal.data
    code = f"{data.get('status')} {data.get('code') or ''}"
    pieces = [f'<section class="cc-error"><h3>The provider refused the request: {text(code)}</h3>']
    pieces.append(f"<p>{text(data.get('text') or 'without a word')}</p>")
    at, ids = data.get("position"), data.get("messages") or []
    if isinstance(at, int):
        for place in range(max(0, at - 2), min(len(ids), at + 2)):
            pieces.append(_line(place, timeline.messages.get(ids[place]) or {}, place == at))
    return [*pieces, "</section>"]


def _line(place: int, message: dict[str, Any], at_fault: bool) -> str:
    """One message of a refused request."""
    words = " ".join(text_of(message.get("content")).split()) or "calls tools"
    mark, name = ("&#9654;", "cc-bad") if at_fault else ("&nbsp;", "cc-near")
    call = f" {text(message['tool_call_id'])}" if message.get("tool_call_id") else ""
    return f'<p class="{name}">{mark} {place} <b>{text(message.get("role"))}</b>{call}: {text(words[:90])}</p>'
