"""Every guard of the demo, switched off in the setting in which its absence shows: the real fault follows.

The settings are those that `course demo --help` names.
"""

from __future__ import annotations

import contextlib
import functools
import shlex

import pytest

from course.cli import FOR_HELP
from course.demo import DemoError, DemoSettings, run_demo
from course.frame import frame_at
from course.guards import GUARDS, USER_ROLE
from course.loading import load_chapters
from course.survey import SurveySettings
from course.timeline import read_timeline
from course.views import Lines, make_console
from tests.course.test_demo import course

OFF = {"--without": "without", "--scenario": "scenario", "--summary-role": "summary_role", "--threshold": "threshold"}


def settings_of(options: str) -> SurveySettings:
    """The settings that the options of a command line stand for."""
    words, chosen, without = shlex.split(options), {}, set()
    for option, value in zip(words[::2], words[1::2], strict=True):
        if option == "--without":
            without.add(value)
        else:
            chosen[OFF[option]] = float(value) if option == "--threshold" else value
    return SurveySettings(without=frozenset(without), **chosen)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A function that runs a survey once for each setting: (counters, the end's data, the timeline)."""

    @functools.cache
    def once(settings: SurveySettings):
        folder = tmp_path_factory.mktemp("run")
        file = folder / "run.json"
        console = make_console(plain=True)
        where = {"report": folder / "report.md", "sessions": folder / "sessions.db", "save": file}
        with contextlib.suppress(DemoError):  # most of these runs go wrong, and that is what is looked at
            run_demo(DemoSettings(survey=settings, **where), console, Lines(console))
        timeline = read_timeline(file)
        frame = frame_at(timeline, len(timeline.events))
        return frame.counters, frame.end, timeline

    return once


def both(run, name):
    """The run with the guard, and the run without it, in the setting that the table names."""
    guard = USER_ROLE if name == "summary-role" else GUARDS[name]
    off = settings_of(guard.bites)
    on = SurveySettings(**{**vars(off), "without": off.without - {name}, "summary_role": "assistant"})
    if name == "summary-role":
        assert off.summary_role == "user"
    else:
        assert name in off.without
    return run(on), run(off)


def test_without_prune_more_is_summarised_by_a_model(run):
    (on, end_on, _), (off, end_off, _) = both(run, "prune")
    assert end_on["result"]["right"] == end_off["result"]["right"] == 40
    assert off.summary_calls > on.summary_calls
    assert off.prompt_tokens + off.summary_tokens > on.prompt_tokens + on.summary_tokens
    assert off.prunings == 0


def test_without_align_the_provider_refuses_an_orphan(run):
    (on, _, _), (off, end, timeline) = both(run, "align")
    assert on.refused == 0
    assert off.refused == 1
    refusal = timeline.last("refused")
    assert (refusal["status"], refusal["code"]) == (400, "orphan_result")
    assert timeline.messages[refusal["message"]]["role"] == "tool", "the panel names the orphan"
    assert end["stop_reason"] == "refused"


def test_without_summary_work_is_lost(run):
    (_, end_on, _), (off, end_off, _) = both(run, "summary")
    assert off.summary_calls == 0
    assert end_off["result"]["right"] < end_on["result"]["right"]


def test_without_anchor_the_new_request_is_lost(run):
    (_, end_on, _), (_, end_off, _) = both(run, "anchor")
    assert (end_on["result"]["unasked_reads"], end_on["result"]["missing"]) == (0, 0)
    assert end_off["result"]["unasked_reads"] > 0
    assert end_off["result"]["missing"] > 0


def test_without_stuck_the_agent_grinds_to_its_limit(run):
    (on, end_on, _), (off, end_off, _) = both(run, "stuck")
    assert end_on["stop_reason"] == "stuck"
    assert "the system prompt and the last request alone reach the threshold" in end_on["text"]
    assert on.calls < 5
    assert end_off["stop_reason"] == "max_iterations"
    assert off.summary_calls > 100


def test_without_task_state_files_are_read_again_and_it_never_ends(run):
    (_, end_on, _), (_, end_off, _) = both(run, "task-state")
    assert (end_on["result"]["right"], end_on["result"]["read_twice"]) == (40, 0)
    assert end_off["result"]["read_twice"] > 10
    assert end_off["stop_reason"] == "max_iterations"


def test_with_the_summary_as_a_user_message_finished_work_is_done_again(run):
    (_, end_on, _), (_, end_off, _) = both(run, "summary-role")
    assert end_off["result"]["right"] < end_on["result"]["right"], "the record of what is done is not read as one's own"
    assert end_off["result"]["doubled"] > 0.9 * end_off["result"]["right"] - 1


def test_any_number_of_guards_can_be_off_at_once(run):
    counters, end, _ = run(SurveySettings(without=frozenset(GUARDS) - {"align"}))
    assert counters.refused == 0
    assert end["result"]["right"] < 40


def test_the_table_stands_in_the_help(tmp_path):
    text = " ".join(course("demo", "--help", folder=tmp_path).stdout.replace("│", " ").split())
    for name, guard in GUARDS.items():
        assert name in text
        assert guard.then[:40] in text
    assert FOR_HELP.count("Try --") == len(GUARDS) + 1


def test_a_panel_names_the_orphan(tmp_path):
    run = course("demo", "--plain", "--without", "align", folder=tmp_path)
    assert run.returncode == 1
    assert "the provider refused the request: 400 orphan_result" in run.stdout
    assert ">   " in run.stdout
    assert "Traceback" not in run.stdout + run.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--without", "luck"], "There is no guard luck. There is: prune, align, summary, anchor, stuck, task-state."),
        (["--scenario", "party"], "There is no scenario party."),
        (["--summary-role", "system"], "There is no role for a summary system. There is: assistant, user."),
    ],
)
def test_unknown_names_are_said(tmp_path, arguments, sentence):
    run = course("demo", *arguments, folder=tmp_path)
    assert run.returncode == 2
    assert sentence in run.stderr


def test_a_copy_of_the_chapters_changes_nothing_in_the_reference():
    import reference.ch10_compress as original

    before = original.find_anchors
    copy = load_chapters({"ch10_compress": {"find_anchors": lambda chapters: lambda messages: []}})["ch10_compress"]
    assert copy.find_anchors([{"role": "user", "content": "x"}]) == []
    assert original.find_anchors is before
    for wrong in ({"ch10_compress": {"no_such_guard": lambda chapters: None}}, {"ch99_luck": {}}):
        with pytest.raises(KeyError):
            load_chapters(wrong)
