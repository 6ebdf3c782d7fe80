"""The controls of the live demo: what can be chosen for a run, and how to walk through it."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from course.guards import GUARDS
from course.stage.choice import FOLDER, MINE, SAVED, Choice

SCENARIO_NAMES = [
    ("survey of 40 made files", "survey"),
    ("first message is huge", "huge-brief"),
    ("user changes her mind", "change-of-mind"),
    ("a folder of your own", FOLDER),
    ("your own modules", MINE),
    ("a saved run", SAVED),
]
ALONE, ALL_ON, BEFORE = "nothing", "all guards on", "the run before"
SPEEDS = [("slow speed", 1.0), ("normal speed", 0.25), ("fast speed", 0.08)]


class Choices:
    """The controls of a run: scenario, sizes, role, guards, and what stands beside it."""

    def __init__(self) -> None:
        self.scenario = widgets.Dropdown(options=SCENARIO_NAMES, value="survey", description="Scenario")
        self.path = widgets.Text(description="Path", placeholder="folder or run.json")
        self.window = widgets.BoundedIntText(8_192, min=512, max=2_000_000, step=1_024, description="Window")
        self.threshold = widgets.BoundedFloatText(0.50, min=0.05, max=0.95, step=0.05, description="Threshold")
        self.tail = widgets.BoundedFloatText(0.20, min=0.01, max=0.95, step=0.05, description="Tail")
        self.role = widgets.Dropdown(options=["assistant", "user"], description="Summary is")
        self.guards = {name: widgets.Checkbox(True, description=name, indent=False) for name in GUARDS}
        self.beside = widgets.Dropdown(options=[ALONE, ALL_ON, BEFORE], value=ALL_ON, description="Beside it")
        self._explain()

    def _explain(self) -> None:
        """Give each control the sentence that a pointer over it shows."""
        self.threshold.tooltip = "compression begins at this share of the window"
        self.tail.tooltip = "the tail that a compression keeps, as a share of the threshold"
        for name, guard in GUARDS.items():
            self.guards[name].tooltip = guard.does

    def all(self) -> list[Any]:
        """Every control, in the order in which the keyboard reaches them."""
        sizes = [self.window, self.threshold, self.tail, self.role]
        return [self.scenario, self.path, *sizes, *self.guards.values(), self.beside]

    def choice(self) -> Choice:
        """What is chosen now."""
        return Choice(
            self.scenario.value,
            self.path.value.strip() if self.scenario.value in (FOLDER, SAVED) else "",
            self.window.value,
            round(self.threshold.value, 3),
            round(self.tail.value, 3),
            self.role.value,
            frozenset(name for name, box in self.guards.items() if not box.value),
        )


class Steps:
    """The controls of a walk: buttons, a slider over all events, the speed."""

    def __init__(self) -> None:
        self.first = widgets.Button(description="|◀", tooltip="to the first event")
        self.back = widgets.Button(description="◀ Back", tooltip="one event back")
        self.play = widgets.ToggleButton(description="▶ Play", tooltip="play and pause")
        self.next = widgets.Button(description="Step ▶", tooltip="one event on")
        self.last = widgets.Button(description="▶|", tooltip="to the last event")
        self.earlier = widgets.Button(description="▲", tooltip="back to the last compression, refusal or request")
        self.later = widgets.Button(description="▼ Moment", tooltip="on to the next compression, refusal or end")
        self.slider = widgets.IntSlider(1, min=1, max=1, readout=False)
        self.slider.tooltip = "all events; with the arrow keys one by one"
        self.counter = widgets.Label("event 1 of 1")
        self.speed = widgets.Dropdown(options=SPEEDS, value=0.25)
        self.speed.tooltip = "the speed of Play"

    def all(self) -> list[Any]:
        """Every control in order."""
        buttons = [self.first, self.back, self.play, self.next, self.last, self.earlier, self.later]
        return [*buttons, self.slider, self.counter, self.speed]
