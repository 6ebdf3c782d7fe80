"""What a view shows at one event of a timeline: the window, the last lines, the TODO list, the counters."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from course.parts import PARTS
from course.sentences import line_of, style_of
from course.timeline import Event, Timeline

LINES = 8


@dataclass
class Counters:
    """What a run has cost up to an event."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    summaries: int = 0
    prunings: int = 0
    summary_calls: int = 0
    summary_tokens: int = 0
    refused: int = 0
    sessions: int = 0


@dataclass
class Frame:
    """The state of a run after its first events; `advance` takes in one more, so that going forward costs little."""

    run: dict[str, Any] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PARTS, 0))
    prompt_tokens: int = 0
    goal: str = ""
    todos: list[dict[str, str]] = field(default_factory=list)
    lines: list[tuple[str, str]] = field(default_factory=list)
    counters: Counters = field(default_factory=Counters)
    end: dict[str, Any] = field(default_factory=dict)

    def advance(self, timeline: Timeline, event: Event) -> None:
        """Take in the next event."""
        update = getattr(self, f"_on_{event.kind}", None)
        if update is not None:
            update(event.data)
        line = line_of(timeline, event)
        if line:
            self.lines = [*self.lines, (line, style_of(event))][-LINES:]

    def _on_run(self, data: dict[str, Any]) -> None:
        self.run = data

    def _on_session(self, data: dict[str, Any]) -> None:
        self.counters.sessions += 1

    def _on_request(self, data: dict[str, Any]) -> None:
        self.parts = data["parts"]
        self.prompt_tokens = sum(self.parts.values())

    def _on_response(self, data: dict[str, Any]) -> None:
        self.counters.calls += 1
        self.counters.prompt_tokens += data["prompt_tokens"]
        self.counters.cached_tokens += data["cached_tokens"]
        self._scale(data["prompt_tokens"])

    def _on_compression(self, data: dict[str, Any]) -> None:
        self.counters.summaries += data["outcome"] == "compressed"
        self.counters.prunings += data["outcome"] == "pruned"

    def _on_summary(self, data: dict[str, Any]) -> None:
        self.counters.summary_calls += 1
        self.counters.summary_tokens += data["prompt_tokens"]

    def _on_refused(self, data: dict[str, Any]) -> None:
        self.counters.refused += 1

    def _on_task_state(self, data: dict[str, Any]) -> None:
        self.goal, self.todos = data["goal"], data["todos"]

    def _on_end(self, data: dict[str, Any]) -> None:
        self.end = data

    def _scale(self, reported: int) -> None:
        """Bring the estimated parts to the sum that the provider reported."""
        estimated = sum(self.parts.values())
        if reported and estimated:
            self.parts = {part: round(tokens * reported / estimated) for part, tokens in self.parts.items()}
            self.prompt_tokens = reported


def frame_at(timeline: Timeline, number: int) -> Frame:
    """The frame after the first `number` events."""
    frame = Frame()
    for event in timeline.events[:number]:
        frame.advance(timeline, event)
    return frame
