"""The picture of a frame in the terminal: the window as a bar by part, the TODO list, the last lines, the counters."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from course.frame import Frame
from course.parts import PARTS

BAR_WIDTH = 72
TODO_LINES = 6

# A letter and a colour for each part: the letter alone is enough to read the bar.
LOOKS = dict(
    zip(
        PARTS,
        [("S", "blue"), ("K", "magenta"), ("H", "cyan"), ("C", "yellow"), ("A", "green"), ("R", "red"), ("T", "white")],
        strict=True,
    )
)
MARKS = {"completed": "[x]", "in_progress": "[~]", "pending": "[ ]"}


def picture(frame: Frame, hint: str = "") -> RenderableType:
    """The frame as something that Rich can print: about thirty lines, a hundred columns; `hint` names the keys."""
    lines = [Text(line, style=style) for line, style in frame.lines]
    return Group(
        Panel(window_bar(frame), title="context window", title_align="left"),
        Panel(todo_list(frame), title="task state", title_align="left"),
        Panel(Group(*lines) if lines else Text("nothing yet"), title="last events", title_align="left"),
        counters(frame),
        *([Text(hint, style="dim")] if hint else []),
    )


def window_bar(frame: Frame) -> RenderableType:
    """The window as a bar of 72 characters by part, with the trigger below it and what each letter stands for."""
    window = frame.run.get("context_length") or 1
    bar, room = Text(), BAR_WIDTH
    for part in PARTS:
        letter, colour = LOOKS[part]
        width = min(room, round(frame.parts[part] * BAR_WIDTH / window))
        bar.append(letter * width, style=f"reverse {colour}")
        room -= width
    bar.append("·" * room)
    trigger = round(frame.run.get("trigger", 0) * BAR_WIDTH / window)
    scale = " " * min(trigger, BAR_WIDTH - 1) + "^"
    legend = "  ".join(f"{LOOKS[part][0]} {part} {frame.parts[part]:,}" for part in PARTS if frame.parts[part])
    tokens = f"{frame.prompt_tokens:,} of {window:,} tokens; ^ compression begins at {frame.run.get('trigger', 0):,}"
    return Group(bar, Text(scale), Text(tokens), Text(legend or "empty"))


def todo_list(frame: Frame) -> RenderableType:
    """The goal and the TODO items around the first that is not completed."""
    if not frame.todos:
        return Text("nothing recorded" if "task-state" not in frame.run.get("without", ()) else "switched off")
    done = sum(todo["status"] == "completed" for todo in frame.todos)
    first = next((i for i, todo in enumerate(frame.todos) if todo["status"] != "completed"), len(frame.todos))
    start = max(0, min(first - 1, len(frame.todos) - TODO_LINES))
    shown = frame.todos[start : start + TODO_LINES]
    items = [
        Text(f"{MARKS[todo['status']]} ({todo['id']}) {todo['subject']}", overflow="ellipsis", no_wrap=True)
        for todo in shown
    ]
    return Group(Text(f"{frame.goal}  ({done} of {len(frame.todos)} completed)"), *items)


def counters(frame: Frame) -> Table:
    """The counters in one line."""
    count = frame.counters
    cached = count.cached_tokens / max(1, count.prompt_tokens)
    table = Table.grid(padding=(0, 3))
    table.add_row(
        f"calls {count.calls:,}",
        f"tokens sent {count.prompt_tokens:,} ({cached:.0%} cached)",
        f"summaries {count.summaries:,}",
        f"prunings {count.prunings:,}",
        f"refused {count.refused:,}",
        f"sessions {count.sessions:,}",
    )
    return table
