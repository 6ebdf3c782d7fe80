"""The views of a timeline in the terminal: one line an event, or a live picture."""

from __future__ import annotations

from dataclasses import replace
from typing import Protocol

from rich.console import Console
from rich.live import Live
from rich.panel import Panel

from course.frame import Frame, frame_at
from course.keys import read_key
from course.picture import picture
from course.results import result_table
from course.sentences import line_of, style_of
from course.timeline import Event, Timeline

PLAIN_WIDTH = 100
STEP_HINT = "p: back   any key: on   space: on without waiting   q: quit"
BROWSE_HINT = "n: next   p: back   space: to the end   q: quit"


class View(Protocol):
    """Shows a run: each event when it is in the timeline, and the end."""

    def __call__(self, timeline: Timeline, event: Event) -> None:
        """Show one event."""

    def close(self) -> None:
        """Nothing more will come."""


def make_console(plain: bool) -> Console:
    """A console for the terminal; a plain one has no colour and a fixed width, so that two runs give the same bytes."""
    if plain:
        return Console(
            width=PLAIN_WIDTH, color_system=None, force_terminal=False, highlight=False, soft_wrap=True, emoji=False
        )
    return Console(highlight=False, soft_wrap=True, emoji=False)


class Lines:
    """One line an event; a refusal is a panel that names the message at fault."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def __call__(self, timeline: Timeline, event: Event) -> None:
        """Print the event's line."""
        if event.kind == "refused":
            self.console.print(refusal_panel(timeline, event))
        elif event.kind != "end" and (line := line_of(timeline, event)):
            self.console.print(line, style=style_of(event), markup=False)

    def close(self) -> None:
        """Lines need no end."""


def refusal_panel(timeline: Timeline, event: Event) -> Panel:
    """A refused request: the provider's own words, and the messages around the one at fault."""
    data, lines = event.data, [event.data["text"] or ""]
    at, ids = data["position"], data["messages"]
    if at is not None:
        for place in range(max(0, at - 2), min(len(ids), at + 3)):
            message = timeline.messages[ids[place]]
            made = ", ".join(call["function"]["name"] for call in message.get("tool_calls") or ())
            text = " ".join(str(message.get("content") or made).split())[:60]
            mark = "> " if place == at else "  "
            lines.append(f"{mark}{place:>3} {message['role']:<10} {message.get('tool_call_id', ''):<12} {text}")
    title = f"the provider refused the request: {data['status']} {data['code'] or ''}"
    return Panel("\n".join(lines).replace("[", "\\["), title=title, title_align="left", border_style="red")


class LivePicture:
    """The picture, redrawn at every change; with `step` it waits for a key, and q ends the run as Ctrl-C does.

    p goes back through what was seen while the run waits; any other key goes forward again, and at the end on.
    """

    def __init__(self, console: Console, step: bool = False) -> None:
        self.frame, self._step = Frame(), step
        self._seen: list[Frame] = []  # the frames at which it waited
        self._refusals: list[Panel] = []
        self._live = Live(console=console, auto_refresh=False)
        self._live.start()

    def __call__(self, timeline: Timeline, event: Event) -> None:
        """Take the event in; draw when the picture has changed."""
        self.frame.advance(timeline, event)
        if event.kind == "refused":
            self._refusals.append(refusal_panel(timeline, event))
        if event.kind not in ("request", "response", "compression", "refused", "frequent", "stuck", "user", "end"):
            return
        waits = self._step and event.kind not in ("request", "end")
        if waits:
            self._seen.append(replace(self.frame, counters=replace(self.frame.counters)))
            self._wait()
        else:
            self._live.update(picture(self.frame), refresh=True)

    def _wait(self) -> None:
        """Walk through the frames seen until a key leads on from the last; space goes on without waiting again."""
        place = len(self._seen) - 1
        while place < len(self._seen):
            self._live.update(picture(self._seen[place], STEP_HINT), refresh=True)
            key = read_key()
            if key == "q":
                raise KeyboardInterrupt
            if key == " ":
                self._step = False
                break
            place = max(0, place - 1) if key == "p" else place + 1

    def close(self) -> None:
        """Leave the last picture on the screen, and below it what the provider refused."""
        self._live.stop()
        for panel in self._refusals:
            self._live.console.print(panel)


def browse(timeline: Timeline, console: Console) -> None:
    """Walk through a timeline with keys: n forward, p back, space to the end, q to quit."""
    steps = [event.number for event in timeline.events if line_of(timeline, event)] or [len(timeline.events)]
    place = 0
    with Live(console=console, auto_refresh=False) as live:
        while True:
            live.update(picture(frame_at(timeline, steps[place]), BROWSE_HINT), refresh=True)
            key = read_key()
            if key == "q":
                break
            place = {"p": max(0, place - 1), " ": len(steps) - 1}.get(key, min(len(steps) - 1, place + 1))


def print_result(timeline: Timeline, console: Console) -> None:
    """Print the table at the end of a run, and why it ended, where the run has an end."""
    frame = frame_at(timeline, len(timeline.events))
    if not frame.end:
        console.print("This run has no end: it was cut off.")
        return
    if frame.end["text"]:
        console.print(f"\nThe agent says: {frame.end['text']}\n", markup=False)
    console.print(result_table(frame))
