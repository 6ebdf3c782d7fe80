"""A run in a thread of its own: how far it is, and a way to stop it."""

from __future__ import annotations

from course.stage.choice import Choice, run_choice
from course.stage.show import Show, make_show
from course.timeline import Event, Timeline


class Work:
    """The making of a show; `calls` counts the answered requests, and setting `stopped` ends the run at the next."""

    def __init__(self, choice: Choice) -> None:
        self.choice, self.calls, self.stopped = choice, 0, False

    def show(self) -> Show:
        """The show of the run, when it is over."""
        timeline, sentence = run_choice(self.choice, self._on_event)
        return make_show(self.choice.name(), timeline, sentence)

    def _on_event(self, timeline: Timeline, event: Event) -> None:
        if event.kind == "response":
            self.calls += 1
            if self.stopped:
                raise KeyboardInterrupt
