"""The stage: one widget with the controls above and one picture, or two side by side, below."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from importlib.resources import files
from typing import Any

import ipywidgets as widgets

from course.replay.talk import style
from course.stage.choice import FOLDER, SAVED, Choice
from course.stage.controls import ALL_ON, ALONE, BEFORE, Choices, Steps
from course.stage.show import Show, next_moment, walk
from course.stage.work import Work

POLL = 0.1  # seconds between two looks at a run that goes on
EXPECTED_CALLS = 45


class Stage(widgets.VBox):
    """The live demo. Shown in a notebook it runs the survey at once, with every guard on."""

    def __init__(self, choice: Choice | None = None) -> None:
        self.choices, self.steps = Choices(), Steps()
        self.again = widgets.Button(description="Run again", tooltip="run with what is chosen above")
        self.full = widgets.ToggleButton(description="Full window", tooltip="cover the whole window, and back")
        self.progress = widgets.IntProgress(0, min=0, max=EXPECTED_CALLS, layout={"width": "130px"})
        self.status = widgets.Label("")
        self.news = widgets.HBox([self.progress, self.status])
        self.screens = [widgets.HTML(), widgets.HTML()]
        self.shows: list[Show] = []
        self.walk: list[tuple[int, ...]] = [(0,)]
        self._known: dict[Choice, Show] = {}
        self._before: Show | None = None
        self._work: Work | None = None
        self._stopped = False
        self._tasks: set[asyncio.Task[None]] = set()
        super().__init__(self._rows())
        self.add_class("cc-stage")
        self._listen()
        self._start(self.rerun())

    def _rows(self) -> list[Any]:
        """The rows of the stage from top to bottom."""
        css = style() + files("course.stage").joinpath("stage.css").read_text(encoding="utf-8")
        chosen = self.choices.all()
        guards = chosen.index(self.choices.guards["prune"])
        self.choices.path.layout.display = "none"
        rows = [
            widgets.HBox(chosen[:guards]),
            widgets.HBox([*chosen[guards:], self.again]),
            widgets.HBox([*self.steps.all(), self.full]),
            self.news,
        ]
        for row in rows:
            row.add_class("cc-row")
        pictures = widgets.HBox(self.screens)
        pictures.add_class("cc-pictures")
        return [widgets.HTML(f"<style>{css}</style>", layout={"display": "none"}), *rows, pictures]

    def _listen(self) -> None:
        """Connect the controls."""
        for control in self.choices.all():
            control.observe(self._changed, "value")
        walk_to = {
            self.steps.first: lambda: 0,
            self.steps.back: lambda: self.place - 1,
            self.steps.next: lambda: self.place + 1,
            self.steps.last: lambda: len(self.walk) - 1,
            self.steps.earlier: lambda: next_moment(self.shows, self.walk, self.place, -1),
            self.steps.later: lambda: next_moment(self.shows, self.walk, self.place, +1),
        }
        for button, place in walk_to.items():
            button.on_click(lambda _, place=place: self._step_to(place()))
        self.again.on_click(lambda _: self._stop() if self._work else self._start(self.rerun()))
        self.steps.slider.observe(lambda _: self._draw(), "value")
        self.steps.play.observe(lambda change: self._play(change["new"]), "value")
        self.full.observe(lambda change: (self.add_class if change["new"] else self.remove_class)("cc-full"), "value")

    @property
    def place(self) -> int:
        """The step that is shown, from 0."""
        return int(self.steps.slider.value) - 1

    def go_to(self, place: int) -> None:
        """Show a step; beyond the ends the nearest."""
        self.steps.slider.value = max(0, min(len(self.walk) - 1, place)) + 1

    def _step_to(self, place: int) -> None:
        self.steps.play.value = False
        self.go_to(place)

    def _draw(self) -> None:
        """Draw the step that the slider is at."""
        places, named = self.walk[self.place], len(self.shows) > 1
        for screen, show, place in zip(self.screens, self.shows, places, strict=False):
            screen.value = show.html(place, named)
        self.steps.counter.value = f"event {self.place + 1} of {len(self.walk)}"

    def _play(self, on: bool) -> None:
        self.steps.play.description = "■ Pause" if on else "▶ Play"
        if on:
            if self.place == len(self.walk) - 1:
                self.go_to(0)
            self._start(self._playing())

    async def _playing(self) -> None:
        """Step on until the end, or until Play is switched off."""
        while self.steps.play.value and self.place < len(self.walk) - 1:
            self.go_to(self.place + 1)
            await asyncio.sleep(self.steps.speed.value)
        self.steps.play.value = False

    def _changed(self, change: Any) -> None:
        """Say that what is shown is not what is chosen any more."""
        scenario = self.choices.scenario.value
        self.choices.path.layout.display = None if scenario in (FOLDER, SAVED) else "none"
        self._tell("Something else is chosen now: press Run again.")

    def _tell(self, news: str, shown: bool = True) -> None:
        """Say what goes on, in a row that is there only while there is something to say."""
        self.status.value = news
        self.news.layout.display = None if shown else "none"

    async def rerun(self) -> None:
        """Run what is chosen, and what stands beside it; then show both from the start."""
        self.again.description, self.steps.play.value, self._stopped = "Stop", False, False
        try:
            choice, beside = self.choices.choice(), self.choices.beside.value
            shown = await self._show_of(choice)
            left = None
            if beside == ALL_ON and choice != choice.with_all_guards() and not self._stopped:
                left = await self._show_of(choice.with_all_guards())
            elif beside == BEFORE and self._before is not None:
                left = self._before
            self._before = shown
            self._present([shown] if left is None or beside == ALONE else [left, shown])
        finally:
            self.again.description = "Run again"

    async def _show_of(self, choice: Choice) -> Show:
        """The show of a choice: run now, with the progress on the bar, unless this very run is known."""
        if choice in self._known:
            return self._known[choice]
        self._work = work = Work(choice)
        running = asyncio.create_task(asyncio.to_thread(work.show))
        while not running.done():
            await asyncio.wait([running], timeout=POLL)
            self._report(work)
        self._work = None
        if choice.is_repeatable and not work.stopped:
            self._known[choice] = running.result()
        return running.result()

    def _stop(self) -> None:
        """End the run that goes on; what there is of it is shown."""
        if self._work is not None:
            self._work.stopped = self._stopped = True

    def _report(self, work: Work) -> None:
        """Show how far a run is."""
        self.progress.max = max(EXPECTED_CALLS, work.calls + 5)
        self.progress.value = work.calls
        self._tell(f"running, {work.choice.name()}: {work.calls} requests answered")

    def _present(self, shows: list[Show]) -> None:
        """Put the shows on the screens, at their first event."""
        self.shows, self.walk = shows, walk(shows)
        self.progress.value = self.progress.max
        self._tell(f"ready: {shows[-1].name}", shown=False)
        self.screens[1].layout.display = None if len(shows) > 1 else "none"
        self.steps.slider.value = 1
        self.steps.slider.max = len(self.walk)
        self._draw()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Do some work in the notebook's loop; without a loop, as in a test, at once."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            asyncio.run(work)
            return
        task = loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
