"""What is chosen for a run of the live demo, and the run itself: a timeline, or why there is none."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from course.demo import DemoError, DemoSettings, run_demo
from course.own import UnsolvedError, own_chapters
from course.scenarios import SCENARIOS, ScenarioError
from course.survey import SurveySettings, WindowTooSmallError
from course.timeline import Event, Timeline, TimelineError, read_timeline
from reference.ch03_sessions import SessionStoreError

FOLDER, SAVED, MINE = "folder", "saved", "mine"
SENTENCES = (DemoError, ScenarioError, SessionStoreError, TimelineError, UnsolvedError, WindowTooSmallError, OSError)
OnEvent = Callable[[Timeline, Event], None]


@dataclass(frozen=True)
class Choice:
    """The settings of one run; `path` is the folder or the saved run where `scenario` asks for one."""

    scenario: str = "survey"
    path: str = ""
    window: int = 8_192
    threshold: float = 0.50
    target_ratio: float = 0.20
    summary_role: str = "assistant"
    without: frozenset[str] = frozenset()

    def with_all_guards(self) -> Choice:
        """The same with nothing switched off."""
        return replace(self, without=frozenset(), summary_role="assistant")

    def name(self) -> str:
        """What is particular about it, in a few words."""
        parts = [f"without {', '.join(sorted(self.without))}"] if self.without else []
        parts += ["summary as user"] if self.summary_role == "user" else []
        parts += [f"{self.scenario} {self.path}".strip()] if self.scenario != "survey" else []
        kept = f"window {self.window:,}, threshold {self.threshold:.0%}, tail {self.target_ratio:.0%}"
        return "; ".join([*(parts or ["all guards on"]), *([] if self.scenario == SAVED else [kept])])

    @property
    def is_repeatable(self) -> bool:
        """Whether the same choice always gives the same run: files of one's own may change."""
        return self.scenario in SCENARIOS


def run_choice(choice: Choice, on_event: OnEvent) -> tuple[Timeline, str]:
    """(the timeline, "") of a run; with a sentence, and as much of the timeline as there is, where it could not end."""
    view = _Watch(on_event, choice.target_ratio)
    try:
        if choice.scenario == SAVED:
            return read_timeline(Path(choice.path).expanduser()), ""
        with tempfile.TemporaryDirectory(prefix="course-stage-") as scratch:
            run_demo(_settings(choice, Path(scratch)), Console(file=io.StringIO()), view)
    except SENTENCES as error:
        return view.timeline, "" if view.timeline.last("end") else str(error)
    except Exception as error:  # a learner's module may raise anything, and the picture up to there is still wanted
        return view.timeline, f"The run broke off: {type(error).__name__}: {error}"
    return view.timeline, ""


def _settings(choice: Choice, scratch: Path) -> DemoSettings:
    """The demo's settings, with everything it writes in a scratch folder."""
    chapters = own_chapters(Console(file=io.StringIO())) if choice.scenario == MINE else None
    survey = SurveySettings(
        choice.threshold,
        choice.without,
        choice.summary_role,
        choice.scenario if choice.scenario in SCENARIOS else "survey",
        chapters=chapters,
        target_ratio=choice.target_ratio,
    )
    path = Path(choice.path).expanduser() if choice.scenario == FOLDER else None
    return DemoSettings(path, scratch / "report.md", scratch / "sessions.db", choice.window, survey)


class _Watch:
    """A view that keeps the timeline and tells of each event; the tail's share is written into the first."""

    def __init__(self, on_event: OnEvent, target_ratio: float) -> None:
        self.timeline, self._on_event, self._target_ratio = Timeline(), on_event, target_ratio

    def __call__(self, timeline: Timeline, event: Event) -> None:
        self.timeline = timeline
        if event.kind == "run":
            event.data["target_ratio"] = self._target_ratio
        self._on_event(timeline, event)

    def close(self) -> None:
        """Nothing is left to do."""
