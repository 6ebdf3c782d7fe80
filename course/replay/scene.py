"""What a wide view shows at one event: the frame of the terminal, the history with its cuts, the cached prefix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from course.frame import Frame
from course.plots.window import COUNTED
from course.replay.cuts import Cuts, done_cuts, planned_cuts
from course.replay.telling import sentence_of
from course.timeline import Event, Timeline
from reference.messages import Message

TARGET_RATIO = 0.20  # of the trigger: the tail of a run that does not say
MOMENTS = ("run", "user", "compression", "refused", "stuck", "end")
DAMAGED = (AttributeError, KeyError, TypeError, ValueError, IndexError)


@dataclass(frozen=True)
class Scene:
    """One event with all that is shown of it; `after` is the history behind a compression, None for other events."""

    event: Event
    frame: Frame
    sentence: str
    history: tuple[str, ...] = ()
    after: tuple[str, ...] | None = None
    cuts: Cuts | None = None
    cached: int | None = None  # tokens of the last prompt; None while a request has no answer
    call: int = 0
    fault: str | None = None  # the id of the message that the provider names in a refusal
    refusal: Event | None = None  # the last request's, where it was refused

    @property
    def is_moment(self) -> bool:
        """Whether a talk jumps to this event: something is said, compressed, refused or over."""
        changed = self.event.kind != "compression" or self.event.data.get("outcome") != "unchanged"
        return self.event.kind in MOMENTS and changed


def scenes(timeline: Timeline) -> Iterator[Scene]:
    """The scenes of a timeline, one for each event, in order; a damaged event leaves the picture as it was."""
    stage = _Memory(timeline)
    for event in timeline.events:
        yield stage.scene(event)


@dataclass
class _Memory:
    """What has to be remembered from event to event."""

    timeline: Timeline
    frame: Frame = field(default_factory=Frame)
    history: list[str] = field(default_factory=list)
    cuts: Cuts | None = None
    cached: int | None = None
    call: int = 0
    refusal: Event | None = None
    estimated: int = 0
    ratio: float = 1.0  # the provider's tokens for one of ours

    def scene(self, event: Event) -> Scene:
        """The scene of the next event."""
        after = None
        try:
            self.frame.advance(self.timeline, event)
            after = getattr(self, f"_on_{event.kind}", _nothing)(event.data)
        except DAMAGED:
            pass
        if event.kind in ("refused", "request", "response"):
            self.refusal = event if event.kind == "refused" else None
        fault = self.refusal.data.get("message") if self.refusal else None
        frame = replace(self.frame, counters=replace(self.frame.counters))
        shown = (tuple(self.history), after, self.cuts, self.cached, self.call, fault, self.refusal)
        scene = Scene(event, frame, sentence_of(self.timeline, event), *shown)
        if after is not None:
            self.history, self.cuts = list(after), None
        return scene

    def _on_user(self, data: dict[str, Any]) -> None:
        self.history.append(data["message"])

    def _on_request(self, data: dict[str, Any]) -> None:
        self.history, self.call, self.cached = list(data["messages"]), data["call"], None
        self.estimated = sum(data["parts"].values())
        aligned = "align" not in self.frame.run.get("without", ())
        self.cuts = planned_cuts(self._messages(self.history), self._tail(), aligned) if self._compresses() else None

    def _on_response(self, data: dict[str, Any]) -> None:
        self.history.append(data["message"])
        self.cached = data["cached_tokens"]
        if data["prompt_tokens"] and self.estimated:
            self.ratio = data["prompt_tokens"] / self.estimated

    def _on_tool_end(self, data: dict[str, Any]) -> None:
        self.history.append(data["message"])

    def _on_compression(self, data: dict[str, Any]) -> tuple[str, ...] | None:
        after = tuple(data["messages"])
        before, summarised = self._messages(self.history), data["outcome"] == "compressed"
        self.cuts = done_cuts(before, self._messages(after), self._tail()) if summarised else None
        return after if list(after) != self.history else None

    def _on_refused(self, data: dict[str, Any]) -> None:
        self.history, self.cuts = list(data["messages"]) or self.history, None
        if counted := COUNTED.search(data["text"] or ""):  # the estimate may have seemed to fit
            self._scale(int(counted[1].replace(",", "")))

    def _scale(self, tokens: int) -> None:
        """Bring the parts of the window to the sum that the provider counted."""
        ratio = tokens / (sum(self.frame.parts.values()) or 1)
        self.frame.parts = {part: round(of * ratio) for part, of in self.frame.parts.items()}
        self.frame.prompt_tokens = tokens

    def _compresses(self) -> bool:
        return bool(self.frame.run.get("trigger"))

    def _tail(self) -> int:
        """The tail's budget in estimated tokens, as the agent reckons it."""
        run = self.frame.run
        return int(int(run["trigger"] * run.get("target_ratio", TARGET_RATIO)) / self.ratio)

    def _messages(self, ids: tuple[str, ...] | list[str]) -> list[Message]:
        return [self.timeline.messages[one] for one in ids]


def _nothing(data: dict[str, Any]) -> None:
    """Nothing to remember."""
