"""`course demo`: a survey in a window that is too small for it, recorded as a timeline and shown as it happens."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
from rich.console import Console

from course.corpus import make_corpus
from course.endpoint import live_endpoint, offline_endpoint
from course.provider import Provider
from course.recorder import Recorder
from course.results import is_complete, result_of
from course.scenarios import Scenario, make_scenario
from course.survey import Models, SurveySettings, check_window, make_agent, make_workspace
from course.timeline import Timeline
from course.views import View, print_result
from course.workspace import Workspace
from reference.ch03_sessions import SessionStore, SessionStoreError
from reference.ch05_budget import threshold_tokens

GO_ON = "Go on."
FOLDER = Path("course-demo")


Endpoint = AbstractContextManager[tuple[Any, Models, Provider | None]]


class DemoError(Exception):
    """What stops a demo before or in its run, as one sentence for the user."""


@dataclass(frozen=True)
class DemoSettings:
    """The options of the command line; `path` None means the corpus that the package makes."""

    path: Path | None = None
    report: Path = FOLDER / "report.md"
    sessions: Path = FOLDER / "sessions.db"
    window: int | None = None
    survey: SurveySettings = field(default_factory=SurveySettings)
    live: bool = False
    resume: bool = False
    save: Path | None = None


def run_demo(settings: DemoSettings, console: Console, view: View, endpoint: Endpoint | None = None) -> Timeline:
    """The timeline of a run whose report is complete and right; otherwise DemoError says what stopped it.

    `endpoint` gives (client, models, provider) in place of the one that the settings name.
    """
    with _folder(settings) as root, endpoint or _endpoint(settings, console) as (client, models, provider):
        workspace = _workspace(root, settings, models)
        scenario = make_scenario(settings.survey.scenario, workspace, models.context_length, settings.survey.seed)
        recorder = Recorder(view, provider)
        with _store(settings) as store:
            session: Any = {"store": store, "session_id": _session_to_resume(store, settings)}
            agent = make_agent(client, models, workspace, settings.survey, scenario, recorder, **session)
            check_window(agent, scenario)
            _start_report(settings)
            _announce(console, settings, models, workspace)
            recorder.agent = agent
            _record_run(recorder, settings, models, workspace)
            stopped = _run(agent, scenario, settings, recorder)
        result = result_of(recorder.timeline, workspace, scenario)
        recorder.read_log()
        recorder.add("end", **stopped, result=result)
    view.close()
    _finish(recorder.timeline, settings, console, workspace)
    return recorder.timeline


def _run(agent: Any, scenario: Scenario, settings: DemoSettings, recorder: Recorder) -> dict[str, Any]:
    """Why the run ended, and its last words."""
    try:
        outcome = agent.resume(GO_ON) if settings.resume else agent.run(scenario.opening)
    except KeyboardInterrupt:
        return {"stop_reason": "interrupted", "text": "Interrupted."}
    except openai.APIStatusError as error:
        text = f"The provider refused a request with status {error.status_code}: {error.message}"
        return {"stop_reason": "refused", "text": text}
    except openai.APIConnectionError:
        text = "The provider does not answer any more: the connection was lost."
        return {"stop_reason": "connection lost", "text": text}
    except (openai.OpenAIError, SessionStoreError) as error:
        return {"stop_reason": "failed", "text": str(error)}
    if outcome["stop_reason"] == "max_iterations":
        text = f"The agent stopped after {outcome['iterations']} calls, its limit, without an end."
        return {"stop_reason": "max_iterations", "text": text}
    return {"stop_reason": outcome["stop_reason"], "text": outcome["final_response"]}


def _finish(timeline: Timeline, settings: DemoSettings, console: Console, workspace: Workspace) -> None:
    """Print the end, save the timeline, and raise DemoError unless the report is complete and right."""
    print_result(timeline, console)
    for path, reason in workspace.skipped:
        console.print(f"left out: {path} ({reason})", markup=False)
    if settings.save:
        _save(timeline, settings.save)
        console.print(f"The timeline is in {settings.save}: `course replay {settings.save}` shows it.", markup=False)
    end = timeline.last("end")
    if end["stop_reason"] == "answer" and is_complete(end["result"]):
        console.print(f"The report is in {settings.report}.", markup=False)
        return
    answered = end["stop_reason"] == "answer"
    text = "The agent came to its end, but the report is not complete and right." if answered else end["text"]
    raise DemoError(f"{text} The report written so far is kept in {settings.report}.")


def _save(timeline: Timeline, path: Path) -> None:
    """Save the timeline; DemoError when the file cannot be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        timeline.save(path)
    except OSError as error:
        raise DemoError(f"{path} cannot be written: {error.strerror or error}. Choose another with --save.") from None


def _record_run(recorder: Recorder, settings: DemoSettings, models: Models, workspace: Workspace) -> None:
    """The first event: what was chosen."""
    survey = settings.survey
    recorder.add(
        "run",
        scenario=survey.scenario,
        model=models.agent,
        context_length=models.context_length,
        trigger=threshold_tokens(models.context_length, survey.threshold),
        threshold=survey.threshold,
        target_ratio=survey.target_ratio,
        without=sorted(survey.without),
        summary_role=survey.summary_role,
        seed=survey.seed,
        where=str(settings.path) if settings.path else "the made corpus",
        files=len(workspace.text_files()),
    )


@contextmanager
def _folder(settings: DemoSettings) -> Iterator[Path]:
    """The folder to survey: the user's, or the corpus in a scratch folder that is removed afterwards."""
    path = settings.path
    if path is not None:
        if not path.exists():
            raise DemoError(f"There is no folder {path}. Give --path a folder with text files.")
        if not path.is_dir():
            raise DemoError(f"{path} is not a folder. Give --path the folder that it lies in.")
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="course-demo-") as scratch:
        make_corpus(Path(scratch), seed=settings.survey.seed)
        yield Path(scratch)


def _workspace(root: Path, settings: DemoSettings, models: Models) -> Workspace:
    """The workspace of a folder that holds at least one text file."""
    workspace = make_workspace(root, settings.report, models.context_length, settings.survey.threshold)
    if not workspace.text_files():
        left_out = f"; {len(workspace.skipped)} files were left out, since they are no readable text"
        raise DemoError(f"There is no text file under {root}{left_out if workspace.skipped else ''}. Nothing to do.")
    return workspace


@contextmanager
def _endpoint(settings: DemoSettings, console: Console) -> Iterator[tuple[Any, Models, Provider | None]]:
    """The client and models of a run, and the provider where it is the offline one."""
    if not settings.live:
        with offline_endpoint(settings.window) as endpoint:
            yield endpoint
        return
    client, models = live_endpoint(settings.window)
    console.print(f"This run sends real requests to {models.agent}: every prompt token below is billed to your key.")
    with client:
        yield client, models, None


@contextmanager
def _store(settings: DemoSettings) -> Iterator[SessionStore]:
    """The session store beside the report."""
    try:
        settings.sessions.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        place = settings.sessions.parent
        raise DemoError(f"{place} cannot be made: {error.strerror or error}. Choose another with --report.") from None
    with SessionStore(settings.sessions) as store:
        yield store


def _session_to_resume(store: SessionStore, settings: DemoSettings) -> str | None:
    """The session to go on with, None for a new one."""
    if not settings.resume:
        return None
    latest = store.latest()
    if latest is None:
        raise DemoError(f"There is no session in {settings.sessions} to resume. Run the demo without --resume first.")
    return latest


def _start_report(settings: DemoSettings) -> None:
    """Begin the report anew, unless a session is resumed; a file that is no survey report is never written over."""
    report = settings.report
    try:
        lines = report.read_text(encoding="utf-8", errors="replace").splitlines() if report.exists() else []
        if not all(line.startswith("- ") for line in lines):
            raise DemoError(f"{report} exists and is no survey report. Choose another file with --report.")
        report.parent.mkdir(parents=True, exist_ok=True)
        if not settings.resume:
            report.write_text("", encoding="utf-8")
    except OSError as error:
        sentence = f"{report} cannot be written: {error.strerror or error}. Choose another with --report."
        raise DemoError(sentence) from None


def _announce(console: Console, settings: DemoSettings, models: Models, workspace: Workspace) -> None:
    """Two or three lines: what is surveyed, by what, in which window, with which guards off."""
    where = settings.path if settings.path else "the made corpus"
    survey = settings.survey
    off = [f"without {', '.join(sorted(survey.without))}"] if survey.without else []
    off += ["summary as a user message"] if survey.summary_role == "user" else []
    console.print(
        f"Survey of {len(workspace.text_files())} text files in {where}, by {models.agent}: a window of "
        f"{models.context_length:,} tokens, compression from {survey.threshold:.0%} on"
        f"{'; ' if off else ''}{'; '.join(off)}.",
        markup=False,
    )
    if not settings.live:
        console.print("The agent and the summariser are small rule-based programs, not language models.")
    if settings.resume:
        console.print("The last session is resumed.")
    console.print()
