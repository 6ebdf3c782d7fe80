"""The live demo without a browser: every control has its effect, two runs go side by side, bad input is a sentence."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from course.guards import GUARDS
from course.stage import Stage
from course.stage.choice import Choice, run_choice
from course.stage.controls import Choices
from course.stage.show import Show, make_show, walk
from course.stage.work import Work
from course.timeline import Timeline

ROOT = Path(__file__).resolve().parents[2]


def words(html):
    """The text of a picture, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", html))


@pytest.fixture(scope="module")
def stage():
    """A stage with the survey on it; tests leave its choices as they found them."""
    return Stage()


def shown(stage):
    """The texts of the pictures that are on the stage, from left to right."""
    return [words(screen.value) for screen, _ in zip(stage.screens, stage.shows, strict=False)]


def test_it_begins_with_the_survey_and_can_be_walked(stage):
    assert [len(stage.shows), stage.place] == [1, 0]
    assert "A run begins (survey of 40 files in the made corpus)" in shown(stage)[0]
    stage.steps.next.click()
    second = stage.screens[0].value
    stage.steps.later.click()
    assert "The user" in shown(stage)[0] or "user:" in shown(stage)[0]
    stage.steps.later.click()
    assert "Compression: a summary replaces" in shown(stage)[0]
    stage.steps.earlier.click()
    stage.steps.earlier.click()
    stage.go_to(1)
    assert stage.screens[0].value == second, "back is the same picture"
    stage.steps.last.click()
    assert "report 40 of 40 right" in shown(stage)[0]
    assert stage.steps.counter.value == f"event {len(stage.walk)} of {len(stage.walk)}"
    stage.steps.next.click()
    assert stage.place == len(stage.walk) - 1, "behind the end is nothing"
    stage.steps.first.click()
    stage.steps.back.click()
    assert stage.place == 0


def test_a_guard_off_stands_beside_the_run_with_all_of_them(stage):
    box = stage.choices.guards["align"]
    box.value = False
    assert stage.status.value == "Something else is chosen now: press Run again."
    stage.again.click()
    box.value = True
    assert [show.name.split(";")[0] for show in stage.shows] == ["all guards on", "without align"]
    stage.steps.last.click()
    left, right = shown(stage)
    assert "report 40 of 40 right" in left
    assert "The provider refused the request: 400 orphan_result" in right
    assert "must be a response to a preceding message" in right, "the provider's own words"
    stage.again.click()
    assert len(stage.shows) == 1


def test_what_if_the_tail_were_smaller_is_seen_beside_the_run_before(stage):
    stage.choices.beside.value = "the run before"
    stage.choices.tail.value = 0.05
    stage.again.click()
    stage.choices.beside.value, stage.choices.tail.value = "all guards on", 0.20
    assert ["tail 20%" in stage.shows[0].name, "tail 5%" in stage.shows[1].name] == [True, True]
    assert stage.shows[0].pictures != stage.shows[1].pictures


def test_the_stage_says_what_is_chosen():
    stage = Choices()
    assert stage.choice() == Choice()
    stage.window.value, stage.threshold.value, stage.tail.value = 16_384, 0.7, 0.1
    stage.role.value, stage.scenario.value, stage.path.value = "user", "folder", " docs "
    for box in stage.guards.values():
        box.value = False
    assert stage.choice() == Choice("folder", "docs", 16_384, 0.7, 0.1, "user", frozenset(GUARDS))


def first_compression(choice):
    """The data of the first compression with a summary in the run of a choice."""
    timeline, sentence = run_choice(choice, lambda timeline, event: None)
    assert sentence == ""
    events = (e.data for e in timeline.events if e.kind == "compression" and e.data["outcome"] == "compressed")
    return timeline, next(events)


WHAT_IF = [
    ("a window twice as large", {"window": 16_384}, lambda usual, data: data["before"] > usual["before"]),
    ("a lower threshold", {"threshold": 0.4}, lambda usual, data: data["before"] < usual["before"]),
    ("a tail four times as long", {"target_ratio": 0.8}, lambda usual, data: data["after"] > usual["after"]),
]  # fmt: skip


@pytest.mark.parametrize(("why", "settings", "holds"), WHAT_IF, ids=[row[0] for row in WHAT_IF])
def test_what_if(why, settings, holds):
    _, usual = first_compression(Choice())
    timeline, data = first_compression(replace(Choice(), **settings))
    assert holds(usual, data)
    assert timeline.last("run")["target_ratio"] == settings.get("target_ratio", 0.2)


def test_the_role_of_the_summary_is_that_of_its_message():
    timeline, data = first_compression(Choice(summary_role="user", without=frozenset({"task-state"})))
    roles = {timeline.messages[one]["role"] for one in data["messages"] if "COMPACTION" in str(timeline.messages[one])}
    assert "user" in roles


def test_two_runs_meet_at_the_same_request_and_every_event_is_met():
    shows = [Show("a", [["x"]] * 5, [0, 0, 1, 1, 2], frozenset()), Show("b", [["y"]] * 4, [0, 1, 1, 1], frozenset())]
    steps = walk(shows)
    assert steps == [(0, 0), (1, 0), (2, 1), (3, 2), (3, 3), (4, 3)]
    assert walk([Show("empty", [], [], frozenset(), "Nothing.")]) == [(0,)]


def test_a_folder_and_a_saved_run_are_shown(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.md").write_text(f"# Note {number}\n", encoding="utf-8")
    timeline, sentence = run_choice(Choice("folder", str(folder)), lambda timeline, event: None)
    assert (sentence, timeline.last("end")["result"]["right"]) == ("", 3)
    assert sorted(path.name for path in folder.iterdir()) == ["0.md", "1.md", "2.md"], "nothing is written into it"
    timeline.save(tmp_path / "run.json")
    again, sentence = run_choice(Choice("saved", str(tmp_path / "run.json")), lambda timeline, event: None)
    assert again.to_json() == timeline.to_json()


BAD = [
    ("a window that is too small", Choice(window=600), "is too small: the system prompt"),
    ("no such folder", Choice("folder", "nowhere"), "There is no folder nowhere."),
    ("no such run", Choice("saved", "nowhere.json"), "nowhere.json cannot be read"),
    ("no path", Choice("saved", ""), "cannot be read"),
    ("modules that are not done", Choice("mine"), "not done yet"),
]


@pytest.mark.parametrize(("why", "choice", "sentence"), BAD, ids=[row[0] for row in BAD])
def test_bad_input_is_a_sentence_on_the_stage(why, choice, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if choice.scenario == "mine":
        from course.stubs import make_stubs

        (tmp_path / "chapters").mkdir()
        for name, text in make_stubs(ROOT / "reference").items():
            (tmp_path / "chapters" / name).write_text(text, encoding="utf-8")
        monkeypatch.setenv("COURSE_CHAPTERS", str(tmp_path / "chapters"))
    timeline, said = run_choice(choice, lambda timeline, event: None)
    assert sentence in said
    assert sentence in words(make_show("x", timeline, said).html(0, named=False))


def test_a_run_can_be_stopped_and_is_shown_as_far_as_it_went():
    work = Work(Choice())
    work.stopped = True
    show = work.show()
    assert work.calls == 1
    assert "Interrupted." in words(show.html(len(show.pictures), named=False))


def test_an_empty_run_is_a_sentence():
    assert "No events." in make_show("x", Timeline()).html(0, named=False)


def test_every_control_says_what_it_is(stage):
    for control in [*stage.choices.all(), *stage.steps.all(), stage.again, stage.full]:
        tooltip = getattr(control, "tooltip", None)
        assert control.description or tooltip or control in (stage.steps.slider, stage.steps.counter), control


def test_the_notebook_is_short_and_committed_clean():
    notebook = json.loads((ROOT / "notebooks" / "live_demo.ipynb").read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)
    assert "widgets" not in notebook["metadata"]
    assert sum(len(cell["source"]) for cell in code) <= 5, "what it does stands in course/stage"


# The clicks of "Teaching with it" in the README: what is set, and what the class sees at the end, left and right.

CLICKS = [
    ("no alignment", {"align"}, {}, ["report 40 of 40 right"], ["400 orphan_result", "T!"]),
    ("no task state", {"task-state"}, {}, ["report 40 of 40 right"], ["files read again", "its limit, without an end"]),
    ("the new request is lost", {"anchor", "task-state"}, {"scenario": "change-of-mind", "threshold": 0.3}, ["report 5 of 5 right"], ["of 5 right"]),
    ("work is done again", {"task-state"}, {"role": "user"}, ["report 40 of 40 right"], ["files read again"]),
    ("it grinds on", {"stuck", "task-state"}, {"scenario": "huge-brief"}, ["stuck"], ["its limit, without an end"]),
]  # fmt: skip


@pytest.mark.parametrize(("why", "off", "settings", "left", "right"), CLICKS, ids=[row[0] for row in CLICKS])
def test_a_step_of_a_talk(stage, why, off, settings, left, right):
    chosen = stage.choices
    before = {name: getattr(chosen, name).value for name in settings}
    for name in off:
        chosen.guards[name].value = False
    for name, value in settings.items():
        getattr(chosen, name).value = value
    stage.again.click()
    stage.steps.last.click()
    for name in off:
        chosen.guards[name].value = True
    for name, value in before.items():
        getattr(chosen, name).value = value
    for texts, picture in zip((left, right), shown(stage), strict=True):
        assert [text for text in texts if text not in picture] == []
    assert shown(stage)[0] != shown(stage)[1]


def test_a_longer_tail_costs_more_summaries():
    """What the talk of 20 minutes says of a tail of 0.05 and of 0.8."""

    def summaries(ratio):
        timeline, _ = run_choice(Choice(target_ratio=ratio), lambda timeline, event: None)
        return sum(e.kind == "compression" and e.data["outcome"] == "compressed" for e in timeline.events)

    assert summaries(0.05) < summaries(0.20) < summaries(0.80)
