"""Surveys for notebooks: recorded whatever their end, with guards off or with functions of your own, and compared.

survey(without={"compression"})        a run as a timeline
numbers(timeline)                      what the run came to, as a dict
table({"with": one, "without": two})   runs beside each other
"""

from __future__ import annotations

import atexit
import itertools
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import openai

from course.corpus import make_corpus
from course.endpoint import offline_endpoint
from course.frame import frame_at
from course.guards import GUARDS, weakened_chapters
from course.provider import Provider
from course.recorder import Recorder
from course.results import is_complete, result_of
from course.scenarios import Scenario, make_scenario
from course.strict import refusal_text
from course.survey import Models, SurveySettings, make_agent, make_registry, make_workspace
from course.timeline import Timeline
from course.workspace import Workspace
from reference.ch02_tools import ToolRegistry
from reference.ch03_sessions import SessionStore
from reference.ch05_budget import threshold_tokens
from reference.messages import Message

# Beside the guards of the demo: no compression at all, and pruning alone.
LAYERS = {
    "compression": "makes room before the window is full",
    "middle": "summarises the middle: layers 2 and 3",
}


@dataclass(frozen=True)
class Workplace:
    """What an agent needs for a survey: a client and models, tools, and the opening messages."""

    client: Any
    models: Models
    provider: Provider
    workspace: Workspace
    registry: ToolRegistry
    scenario: Scenario
    settings: SurveySettings

    @property
    def opening(self) -> list[Message]:
        """The system prompt and the request with which the survey begins."""
        return list(self.scenario.opening)

    @property
    def tools(self) -> list[Message]:
        """The `tools` list of a request."""
        return self.registry.schemas()

    def execute(self, name: str, arguments: dict[str, Any]) -> str:
        """The text of a tool's result, as the agent of chapter 1 wants it."""
        return str(getattr(self.workspace, name)(**arguments))


@contextmanager
def workplace(
    files: int = 40,
    window: int | None = None,
    *,
    without: Collection[str] = (),
    summary_role: str = "assistant",
    scenario: str = "survey",
    threshold: float = 0.50,
    seed: int = 7,
    max_calls: int | None = None,
) -> Iterator[Workplace]:
    """A workplace for a survey of so many made files, in a scratch folder that is gone afterwards."""
    off = frozenset(without) & GUARDS.keys()
    settings = SurveySettings(threshold, off, summary_role, scenario, seed, max_calls)
    with tempfile.TemporaryDirectory(prefix="course-lab-") as scratch, offline_endpoint(window) as endpoint:
        client, models, provider = endpoint
        folder = Path(scratch, "files")
        folder.mkdir()
        make_corpus(folder, files, seed)
        workspace = make_workspace(folder, Path(scratch, "report.md"), models.context_length, threshold)
        asked = make_scenario(scenario, workspace, models.context_length, seed)
        yield Workplace(client, models, provider, workspace, make_registry(workspace), asked, settings)


def survey(
    without: Collection[str] | str = (),
    *,
    using: Mapping[str, Any] | None = None,
    files: int = 40,
    window: int | None = None,
    **settings: Any,
) -> Timeline:
    """The timeline of a survey, whatever its end: `numbers` and the event `end` tell how it went.

    `without` names guards to switch off, also "compression" (the agent of chapter 4) and "middle" (pruning alone).
    `using` gives functions to run in place of the reference's: {"find_boundaries": mine("ch07").find_boundaries}.
    The other settings are those of the demo: summary_role, scenario, window (tokens), threshold, seed, max_calls.
    """
    off = {without} if isinstance(without, str) else set(without)
    if unknown := off - GUARDS.keys() - LAYERS.keys():
        known = ", ".join([*GUARDS, *LAYERS])
        raise ValueError(f"there is no guard {', '.join(sorted(unknown))}; there is: {known}")
    with workplace(files, window, without=off, **settings) as place:
        agent = survey_agent(place, off, using or {})
        timeline = record(agent, place.opening, place.provider, place.settings.threshold, off)
        timeline.last("end")["result"] = result_of(timeline, place.workspace, place.scenario)
    return timeline


def survey_agent(place: Workplace, off: Collection[str] = (), using: Mapping[str, Any] | None = None) -> Any:
    """The agent of a survey: that of chapter 12, or 11 without the task state, or 4 without compression."""
    limit = place.settings.max_iterations or 2 * len(place.workspace.text_files()) + 30
    without = {"task-state"} if "middle" in off or "task-state" in off else set()
    settings = replace(place.settings, without=place.settings.without | without, max_iterations=limit)
    chapters = weakened_chapters(settings.without, settings.summary_role)
    cut = chapters["ch10_compress"].Cut
    middle = {"find_cut": lambda messages, *_: cut(len(messages), len(messages), ())}
    _put(chapters, (middle if "middle" in off else {}) | dict(using or {}))
    if "compression" in off:
        agent = chapters["ch04_prompts"].PromptAgent
        return agent(place.client, place.models.agent, place.registry, max_iterations=limit)
    return make_agent(place.client, place.models, place.workspace, settings, place.scenario, chapters=chapters)


def _put(chapters: Mapping[str, ModuleType], functions: Mapping[str, Any]) -> None:
    """Set functions by name in every chapter that has the name; a name that no chapter has raises ValueError."""
    for name, function in functions.items():
        places = [module for module in chapters.values() if hasattr(module, name)]
        if not places:
            raise ValueError(f"no chapter has a function {name}")
        for module in places:
            setattr(module, name, function)


def record(
    agent: Any,
    messages: Sequence[Message],
    provider: Provider,
    threshold: float = 0.50,
    without: Collection[str] = (),
) -> Timeline:
    """The timeline of `agent.run(messages)`, for any agent of the course that speaks to `provider`; never raises.

    What stops the run stands in the event `end`: stop_reason is the agent's, or "refused", "connection lost", "failed".
    """
    recorder = Recorder(None, provider)
    recorder.agent, agent.on_event = agent, recorder
    window = next(model.context_length for model in provider.models if model.name == agent.model)
    recorder.add(
        "run",
        scenario="notebook",
        model=agent.model,
        context_length=window,
        trigger=threshold_tokens(window, threshold) if hasattr(agent, "context_length") else 0,
        without=sorted(without),
    )
    ended = _ended(lambda: agent.run(messages))
    recorder.read_log()
    recorder.add("end", **ended)
    return recorder.timeline


def _ended(run: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Why a run ended, and its last words."""
    try:
        outcome = run()
    except openai.APIStatusError as error:
        return {"stop_reason": "refused", "text": refusal_text(error)}
    except openai.APIConnectionError:
        return {"stop_reason": "connection lost", "text": "The connection to the provider was lost."}
    except Exception as error:  # a learner's function may raise anything, and the picture of the run is still wanted
        return {"stop_reason": "failed", "text": f"{type(error).__name__}: {error}"}
    return {"stop_reason": outcome["stop_reason"], "text": outcome["final_response"]}


def numbers(timeline: Timeline) -> dict[str, Any]:
    """What a run came to: calls, tokens, compressions, files, and whether the survey is complete and right."""
    frame = frame_at(timeline, len(timeline.events))
    count, end = frame.counters, frame.end
    result = end.get("result") or {}
    found = {
        "ended with": end.get("stop_reason", "cut off"),
        "calls": count.calls,
        "prompt tokens": count.prompt_tokens,
        "cached tokens": count.cached_tokens,
        "largest prompt": max((e.data["prompt_tokens"] for e in timeline.events if e.kind == "response"), default=0),
        "summaries": count.summaries,
        "prunings": count.prunings,
        "summariser tokens": count.summary_tokens,
        "refused": count.refused,
    }
    if result:
        names = {
            "files": "files",
            "right": "noted",
            "wrong": "noted wrongly",
            "missing": "missing",
            "doubled": "noted twice",
        }
        found |= {name: result[key] for key, name in names.items()}
        found |= {"read": result["read"], "read again": result["read_twice"], "complete": is_complete(result)}
    return found


def table(columns: Mapping[str, Timeline], rows: Sequence[str] = ()) -> str:
    """A table as text: one column for each run, one row for each of its `numbers`, or for those that `rows` names."""
    found = {name: numbers(timeline) for name, timeline in columns.items()}
    wanted = list(rows) or list(dict.fromkeys(key for counts in found.values() for key in counts))
    cells = [["", *found], *([key, *(_cell(counts.get(key, "")) for counts in found.values())] for key in wanted)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(found) + 1)]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        )
        for row in cells
    )


def _cell(value: Any) -> str:
    """A number or a word of a table."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def scratch_store(**settings: Any) -> SessionStore:
    """A session store in a scratch folder, with the ids session-1, session-2, ...; gone when Python ends."""
    folder = tempfile.mkdtemp(prefix="course-lab-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    ids = map("session-{}".format, itertools.count(1))
    return SessionStore(Path(folder, "sessions.db"), new_id=lambda: next(ids), **settings)
