"""One survey run: an agent of the course reads every text file of a folder and writes a line for each into a report."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course.pages import MIN_PAGE_BYTES
from course.workspace import Workspace
from reference.ch01_agent_loop import MAX_ITERATIONS
from reference.ch02_tools import Tool, ToolRegistry
from reference.ch05_budget import estimate_tokens, threshold_tokens
from reference.ch09_summary import summarize_middle, summary_budget
from reference.ch10_compress import COMPACTION_NOTE
from reference.ch11_stuck import StuckAwareAgent
from reference.ch12_task_state import TaskAgent
from reference.messages import Message

REQUEST = "Read every text file under ./ and write one line for each into report.md."
SYSTEM_PROMPT = (
    "You are a careful agent that surveys folders. List the files first. Read one file after the other; after each, "
    "append one line to the report, in the form `- path: text`, where text is the file's line that begins with Fact:, "
    "without that word, or else its first line with words. Read no file twice. " + COMPACTION_NOTE
)
FIRST_REQUEST_EXTRA = 450  # tokens of the tool schemas and the guidance on the task tools
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
    """What can be chosen for a run; `threshold` is a share of the window."""

    threshold: float = 0.50
    task_state: bool = True
    max_iterations: int | None = None


def make_registry(workspace: Workspace) -> ToolRegistry:
    """The workspace's tools as the course's registry; what writes the report runs one call after the other."""
    functions = [schema["function"] for schema in workspace.schemas()]
    return ToolRegistry(
        Tool(
            function["name"],
            function["description"],
            function["parameters"],
            run=getattr(workspace, function["name"]),
            sequential=function["name"] in SEQUENTIAL_TOOLS,
        )
        for function in functions
    )


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
    first = estimate_tokens(opening_messages()) + FIRST_REQUEST_EXTRA
    return max(MIN_PAGE_BYTES, threshold_tokens(context_length, threshold) - first)


def make_workspace(root: Path, report: Path, context_length: int, threshold: float) -> Workspace:
    """The workspace of a survey, with pages that suit the window."""
    pages = page_bytes_for(context_length, threshold), listing_bytes_for(context_length, threshold)
    return Workspace(root, report, *pages)


def make_agent(
    client: Any, models: Models, workspace: Workspace, settings: SurveySettings, on_event: Callable[..., None]
) -> StuckAwareAgent:
    """The agent of chapter 12, or that of chapter 11 where the task state is switched off, ready to run."""

    def summarize(turns: list[Message], previous_summary: str | None) -> str:
        budget = summary_budget(estimate_tokens(turns), models.context_length)
        window = models.summarizer_context_length
        return summarize_middle(turns, client, models.summarizer, previous_summary, budget, context_length=window)

    iterations = settings.max_iterations or max(MAX_ITERATIONS, 2 * len(workspace.text_files()) + 30)
    agent_class = TaskAgent if settings.task_state else StuckAwareAgent
    return agent_class(
        client,
        models.agent,
        make_registry(workspace),
        context_length=models.context_length,
        summarize=summarize,
        threshold=settings.threshold,
        max_iterations=iterations,
        on_event=on_event,
    )


def opening_messages() -> list[Message]:
    """The system prompt and the request with which a survey begins."""
    return [{"role": "system", "content": SYSTEM_PROMPT}, {"role": "user", "content": REQUEST}]


def check_window(agent: StuckAwareAgent) -> None:
    """Raise WindowTooSmallError when the first request alone, with tools, takes over a third of the threshold.

    The rest has to hold the TODO list, the summary and the newest results.
    """
    agent.messages = opening_messages()
    first = estimate_tokens(agent.outgoing(), agent.tools)
    trigger = threshold_tokens(agent.context_length, agent.threshold)
    if 3 * first > trigger:
        needed = int(3 * first / agent.threshold) + 1
        raise WindowTooSmallError(
            f"A window of {agent.context_length:,} tokens with a threshold of {agent.threshold:.0%} is too small: the "
            f"system prompt, the tools and the request alone take about {first:,} tokens, and compression begins at "
            f"{trigger:,}, so too little room is left to work. Choose a window of at least {needed:,} tokens."
        )
