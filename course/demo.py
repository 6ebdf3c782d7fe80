"""`course demo`: a survey in a window that is too small for it, told call by call, with a table at the end."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
from rich.console import Console
from rich.table import Table

from course.corpus import make_corpus
from course.provider import Model, Provider, default_models, worker
from course.scoring import Score, score
from course.survey import Models, SurveySettings, check_window, make_agent, make_workspace, opening_messages
from course.workspace import Workspace
from reference.ch10_compress import CompressionReport

SUMMARIZER = "sim-summarizer"
LIVE_WINDOW = 131_072


class DemoError(Exception):
    """What stops a demo before or in its run, as one sentence for the user."""


@dataclass
class Tally:
    """What a run has cost so far, counted from the agent's events."""

    calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)


@dataclass
class Narrator:
    """Prints one line for each event of the agent and keeps the tally."""

    console: Console
    tally: Tally = field(default_factory=Tally)

    def __call__(self, kind: str, **data: Any) -> None:
        """Hear of an event; kinds that have no line here are passed over."""
        if kind == "response":
            self._response(data["message"], data["usage"])
        elif kind == "compression":
            self._compression(data["report"], data["before"], data["after"])

    def _response(self, message: dict[str, Any], usage: Any) -> None:
        details = usage.prompt_tokens_details if usage else None
        prompt, cached = (usage.prompt_tokens, (details and details.cached_tokens) or 0) if usage else (0, 0)
        self.tally.calls += 1
        self.tally.prompt_tokens += prompt
        self.tally.cached_tokens += cached
        calls = Counter(call["function"]["name"] for call in message.get("tool_calls") or ())
        did = ", ".join(name if count == 1 else f"{name} ×{count}" for name, count in calls.items()) or "answers"
        self.console.print(f"call {self.tally.calls:>4}   prompt {prompt:>7,}   cached {cached:>7,}   {did}")

    def _compression(self, report: CompressionReport, before: int, after: int) -> None:
        self.tally.outcomes[report.outcome] += 1
        pruned, summary = report.before - report.after_pruning, report.after_pruning - report.after
        layers = [f"pruning −{pruned:,}"] if pruned else []
        if report.outcome == "compressed":
            layers.append(f"summary of {report.summarised} messages −{summary:,}")
        elif report.summary_failed or not pruned:
            layers.append(report.reason)
        if report.clipped:
            layers.append(f"{report.clipped} results clipped")
        line = f"  compression: {before:,} → {after:,} tokens   ({'; '.join(layers)})"
        self.console.print(line, style="yellow" if report.outcome == "compressed" else "cyan")


@dataclass(frozen=True)
class DemoSettings:
    """The options of the command line; `path` None means the corpus that the package makes."""

    path: Path | None = None
    report: Path = Path("course-demo/report.md")
    window: int | None = None
    survey: SurveySettings = field(default_factory=SurveySettings)
    live: bool = False
    plain: bool = False


def make_console(plain: bool) -> Console:
    """A console for the terminal; a plain one has no colour and a fixed width, so that two runs give the same bytes."""
    if plain:
        return Console(width=100, color_system=None, force_terminal=False, highlight=False, soft_wrap=True, emoji=False)
    return Console(highlight=False, soft_wrap=True, emoji=False)


def run_demo(settings: DemoSettings) -> None:
    """Prints a run whose report is complete and right; otherwise DemoError says in one sentence what stopped it."""
    console = make_console(settings.plain)
    with _folder(settings.path) as root, _endpoint(settings, console) as (client, models, provider):
        workspace = _workspace(root, settings, models.context_length)
        narrator = Narrator(console)
        agent = make_agent(client, models, workspace, settings.survey, narrator)
        check_window(agent)
        _start_report(settings.report)
        _announce(console, settings, models, workspace)
        stopped = _run(agent, console)
        result = score(settings.report, workspace)
        console.print(_table(result, narrator.tally, workspace, provider))
    for path, reason in workspace.skipped:
        console.print(f"left out: {path} ({reason})", markup=False)
    complete = result.right == result.files and not result.doubled and not result.unknown
    if not complete:
        stopped = stopped or "The agent came to its end, but the report is not complete and right."
        raise DemoError(f"{stopped} The report written so far is kept in {settings.report}.")
    console.print(f"The report is in {settings.report}.", markup=False)


def _run(agent: Any, console: Console) -> str:
    """Why the run ended early, or "" when the agent came to its end; its last words are printed."""
    try:
        outcome = agent.run(opening_messages())
    except KeyboardInterrupt:
        return "Interrupted."
    except openai.APIStatusError as error:
        return f"The provider refused a request with status {error.status_code}: {error.message}"
    except openai.APIConnectionError:
        return "The provider does not answer any more: the connection was lost."
    except openai.OpenAIError as error:
        return f"The request could not be made: {error}"
    if outcome["stop_reason"] == "max_iterations":
        return f"The agent stopped after {outcome['iterations']} calls, its limit, without an end."
    if outcome["stop_reason"] == "stuck":
        return outcome["final_response"]
    console.print(f"\nThe agent says: {outcome['final_response']}\n", markup=False)
    return ""


@contextmanager
def _folder(path: Path | None) -> Iterator[Path]:
    """The folder to survey: the user's, or the corpus in a scratch folder that is removed afterwards."""
    if path is not None:
        if not path.exists():
            raise DemoError(f"There is no folder {path}. Give --path a folder with text files.")
        if not path.is_dir():
            raise DemoError(f"{path} is not a folder. Give --path the folder that it lies in.")
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="course-demo-") as scratch:
        make_corpus(Path(scratch))
        yield Path(scratch)


def _workspace(root: Path, settings: DemoSettings, context_length: int) -> Workspace:
    """The workspace of a folder that holds at least one text file."""
    workspace = make_workspace(root, settings.report, context_length, settings.survey.threshold)
    if not workspace.text_files():
        left_out = f"; {len(workspace.skipped)} files were left out, since they are no readable text"
        raise DemoError(f"There is no text file under {root}{left_out if workspace.skipped else ''}. Nothing to do.")
    return workspace


@contextmanager
def _endpoint(settings: DemoSettings, console: Console) -> Iterator[tuple[Any, Models, Provider | None]]:
    """The client and models of a run: the offline provider's, or those of a real endpoint."""
    if settings.live:
        yield *_live(settings, console), None
        return
    window = settings.window or 8_192
    served = {model.context_length: model for model in default_models() if model.answer is worker.reply}
    agent = served.get(window) or Model(f"sim-{window}", window, worker.reply)
    summarizer = next(model for model in default_models() if model.name == SUMMARIZER)
    with Provider([agent, summarizer]) as provider, provider.client() as client:
        yield client, Models(agent.name, window, summarizer.name, summarizer.context_length), provider


def _live(settings: DemoSettings, console: Console) -> tuple[Any, Models]:
    """The client and models of the endpoint that the environment names."""
    if not os.environ.get("OPENAI_API_KEY"):
        raise DemoError("--live needs OPENAI_API_KEY, and optionally OPENAI_BASE_URL and MODEL. Nothing was sent.")
    model = os.environ.get("MODEL", "gpt-4o-mini")
    console.print(f"This run sends real requests to {model}: every prompt token below is billed to your key.")
    return openai.OpenAI(), Models(model, settings.window or 8_192, model, LIVE_WINDOW)


def _start_report(report: Path) -> None:
    """Begin the report anew; a file that is no survey report is never written over."""
    try:
        lines = report.read_text(encoding="utf-8", errors="replace").splitlines() if report.exists() else []
        if not all(line.startswith("- ") for line in lines):
            raise DemoError(f"{report} exists and is no survey report. Choose another file with --report.")
        report.parent.mkdir(parents=True, exist_ok=True)
        report.write_text("", encoding="utf-8")
    except OSError as error:
        raise DemoError(
            f"{report} cannot be written: {error.strerror or error}. Choose another with --report."
        ) from None


def _announce(console: Console, settings: DemoSettings, models: Models, workspace: Workspace) -> None:
    """Two lines: what is surveyed, by what, in which window."""
    where = settings.path if settings.path else "the made corpus"
    state = "with" if settings.survey.task_state else "without"
    console.print(
        f"Survey of {len(workspace.text_files())} text files in {where}, by {models.agent}: a window of "
        f"{models.context_length:,} tokens, compression from {settings.survey.threshold:.0%} on, {state} task state.",
        markup=False,
    )
    if not settings.live:
        console.print("The agent and the summariser are small rule-based programs, not language models.\n")


def _table(result: Score, tally: Tally, workspace: Workspace, provider: Provider | None) -> Table:
    """The table at the end of a run."""
    table = Table(title="What the survey came to", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    reads = workspace.reads
    lines = f"{result.right} right, {result.wrong} wrong, {result.missing} missing, {result.doubled} doubled"
    table.add_row("text files", f"{result.files:,}")
    table.add_row("files read", f"{len(reads):,}")
    table.add_row("files read twice or more", f"{sum(count > 1 for count in reads.values()):,}")
    table.add_row("report lines", lines + (f", {result.unknown} about no file" if result.unknown else ""))
    table.add_row("model calls of the agent", f"{tally.calls:,}")
    table.add_row("compressions with a summary", f"{tally.outcomes['compressed']:,}")
    table.add_row("compressions by pruning alone", f"{tally.outcomes['pruned']:,}")
    table.add_row("prompt tokens sent by the agent", f"{tally.prompt_tokens:,}")
    table.add_row("of these cached", f"{tally.cached_tokens / max(1, tally.prompt_tokens):.0%}")
    if provider:
        refused = sum(exchange.status != 200 for exchange in provider.log)
        table.add_row("refused requests", f"{refused:,}")
    return table
