"""One survey run: an agent of the course reads every text file of a folder and writes a line for each into a report."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from course.guards import DROPPED, weakened_chapters
from course.loading import REFERENCE, load_chapters
from course.pages import MIN_PAGE_BYTES
from course.scenarios import CHANGE_AFTER_CALL, Scenario
from course.workspace import Workspace
from reference import ch02_tools
from reference.ch01_agent_loop import MAX_ITERATIONS
from reference.ch05_budget import threshold_tokens
from reference.messages import Message

# Tokens of the first request: system prompt, request, tool schemas, the guidance on the task tools.
FIRST_REQUEST_TOKENS = 660
SEQUENTIAL_TOOLS = ("append_report",)


class WindowTooSmallError(ValueError):
    """A window in which not even the first request leaves room to work."""


@dataclass(frozen=True)
class Models:
    """The models of a run and their windows in tokens: the agent's, and the one that writes the summaries."""

    agent: str
    context_length: int
    summarizer: str
    summarizer_context_length: int


@dataclass(frozen=True)
class SurveySettings:
    """What can be chosen for a run; `threshold` is a share of the window, `without` names guards to switch off."""

    threshold: float = 0.50
    without: frozenset[str] = field(default_factory=frozenset)
    summary_role: str = "assistant"
    scenario: str = "survey"
    seed: int = 7
    max_iterations: int | None = None
    chapters: Path | None = None  # a folder to take the agent's modules from, instead of the reference
    target_ratio: float = 0.20  # of the threshold: the tail that a compression keeps


def page_bytes_for(context_length: int, threshold: float) -> int:
    """Bytes that one tool result may have: three quarters of what the window holds above the threshold, in tokens.

    A token is at least one byte. A request below the threshold and one more page therefore fit in the window, whatever
    script the file is written in.
    """
    return max(MIN_PAGE_BYTES, int(context_length * (1 - threshold) * 3 / 4))


def listing_bytes_for(context_length: int, threshold: float) -> int:
    """Bytes that a listing may have: as many as there are tokens between the first request and the threshold.

    A listing comes back twice, as the arguments of `todo_write` and as TODO list in the system prompt. Three times the
    paths of a page, at about three bytes a token, are that many tokens.
    """
    return max(MIN_PAGE_BYTES, threshold_tokens(context_length, threshold) - FIRST_REQUEST_TOKENS)


def make_workspace(root: Path, report: Path, context_length: int, threshold: float) -> Workspace:
    """The workspace of a survey, with pages that suit the window."""
    pages = page_bytes_for(context_length, threshold), listing_bytes_for(context_length, threshold)
    return Workspace(root, report, *pages)


def make_registry(workspace: Workspace, tools: ModuleType = ch02_tools) -> Any:
    """The workspace's tools in the registry of the module `tools`; what writes the report runs in order."""
    functions = [schema["function"] for schema in workspace.schemas()]
    return tools.ToolRegistry(
        tools.Tool(
            function["name"],
            function["description"],
            function["parameters"],
            run=getattr(workspace, function["name"]),
            sequential=function["name"] in SEQUENTIAL_TOOLS,
        )
        for function in functions
    )


def make_summarize(
    client: Any, models: Models, settings: SurveySettings, chapters: Mapping[str, ModuleType]
) -> Callable[..., str]:
    """The function that summarises the middle; with the guard `summary` off it drops the middle instead."""
    summary, estimate = chapters["ch09_summary"], chapters["ch05_budget"].estimate_tokens

    def summarize(turns: list[Message], previous_summary: str | None) -> str:
        budget = summary.summary_budget(estimate(turns), models.context_length)
        window = models.summarizer_context_length
        return summary.summarize_middle(
            turns, client, models.summarizer, previous_summary, budget, context_length=window
        )

    def drop(turns: list[Message], previous_summary: str | None) -> str:
        return DROPPED

    return drop if "summary" in settings.without else summarize


def make_agent(
    client: Any,
    models: Models,
    workspace: Workspace,
    settings: SurveySettings,
    scenario: Scenario,
    on_event: Callable[..., None] | None = None,
    chapters: Mapping[str, ModuleType] | None = None,
    **session: Any,
) -> Any:
    """The agent of chapter 12, or that of chapter 11 where the task state is off, with the guards of the settings.

    `chapters` are the modules to take it from, in place of those that the settings name. `session` may give a `store`
    and a `session_id`.
    """
    chapters = chapters or _chapters(settings)
    has_state = "task-state" not in settings.without
    agent_class = chapters["ch12_task_state"].TaskAgent if has_state else chapters["ch11_stuck"].StuckAwareAgent
    if scenario.change:
        agent_class = changing(agent_class, scenario.change)
    return agent_class(
        client,
        models.agent,
        make_registry(workspace, chapters["ch02_tools"]),
        context_length=models.context_length,
        summarize=make_summarize(client, models, settings, chapters),
        threshold=settings.threshold,
        target_ratio=settings.target_ratio,
        max_iterations=settings.max_iterations or max(MAX_ITERATIONS, 2 * len(workspace.text_files()) + 30),
        on_event=on_event,
        **session,
    )


def _chapters(settings: SurveySettings) -> Mapping[str, ModuleType]:
    """The chapters by stem: the reference's as they are, a folder's, or copies without the guards that are off."""
    if settings.without or settings.summary_role != "assistant":
        return weakened_chapters(settings.without, settings.summary_role, settings.chapters or REFERENCE)
    if settings.chapters:
        return load_chapters(folder=settings.chapters)
    stems = (file.stem for file in sorted(REFERENCE.glob("ch[0-9][0-9]_*.py")))
    return {stem: importlib.import_module(f"reference.{stem}") for stem in stems}


def changing(agent_class: Any, text: str) -> Any:
    """An agent class whose user speaks once in mid-run, behind the results of a call."""

    class ChangingAgent(agent_class):
        def remember(self, messages: Iterable[Message]) -> None:
            super().remember(messages)
            if self.iterations == CHANGE_AFTER_CALL and self.messages[-1]["role"] == "tool":
                super().remember([{"role": "user", "content": text}])

    return ChangingAgent


def check_window(agent: Any, scenario: Scenario) -> None:
    """Raise WindowTooSmallError when the first request, with tools, takes over a third of the threshold.

    The rest has to hold the TODO list, the summary and the newest results. A brief that is huge on purpose may.
    """
    if scenario.name == "huge-brief":
        return
    agent.messages = agent.with_prompt(list(scenario.opening))
    first = agent.prompt_tokens()
    trigger = threshold_tokens(agent.context_length, agent.threshold)
    if 3 * first > trigger:
        needed = int(3 * first / agent.threshold) + 1
        raise WindowTooSmallError(
            f"A window of {agent.context_length:,} tokens with a threshold of {agent.threshold:.0%} is too small: the "
            f"system prompt, the tools and the request alone take about {first:,} tokens, and compression begins at "
            f"{trigger:,}, so too little room is left to work. Choose a window of at least {needed:,} tokens."
        )
