"""The timeline: recorded once, the same bytes in two runs, and every view a function of it."""

from __future__ import annotations

import io
import json

import pytest
from rich.console import Console

from course.frame import Frame, frame_at
from course.parts import PARTS, window_parts
from course.picture import picture
from course.timeline import KINDS, Timeline, TimelineError, read_timeline
from tests.course.test_demo import course


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A saved run and what the command printed."""
    folder = tmp_path_factory.mktemp("saved")
    run = course("demo", "--plain", "--save", "run.json", folder=folder)
    assert run.returncode == 0, run.stderr
    return folder / "run.json", run.stdout


def test_two_runs_give_the_same_bytes(saved, tmp_path):
    course("demo", "--plain", "--save", "run.json", folder=tmp_path)
    assert (tmp_path / "run.json").read_bytes() == saved[0].read_bytes()


def test_a_replay_prints_what_the_run_printed(saved):
    file, printed = saved
    run = course("replay", "--plain", file.name, folder=file.parent)
    assert run.returncode == 0
    first, last = run.stdout.splitlines()[0], run.stdout.splitlines()[-1]
    lines = printed.splitlines()
    assert lines[lines.index(first) : lines.index(last) + 1] == run.stdout.splitlines()


def test_what_is_in_it(saved):
    timeline = read_timeline(saved[0])
    kinds = {event.kind for event in timeline.events}
    assert kinds == set(KINDS) - {"refused", "frequent", "stuck"}, "this run went well"
    assert [event.number for event in timeline.events] == list(range(1, len(timeline.events) + 1))
    named = {i for event in timeline.events if event.kind == "request" for i in event.data["messages"]}
    assert named <= timeline.messages.keys()
    compressions = [event.data for event in timeline.events if event.kind == "compression"]
    assert all(data["after"] < data["before"] for data in compressions)
    assert json.loads(timeline.to_json())["version"] == 1


def test_a_frame_is_the_same_whether_advanced_or_made_at_once(saved):
    timeline = read_timeline(saved[0])
    frame = Frame()
    for event in timeline.events[:100]:
        frame.advance(timeline, event)
    assert frame == frame_at(timeline, 100)


def test_the_picture_shows_the_window_by_part(saved):
    timeline = read_timeline(saved[0])
    number = next(e.number for e in timeline.events if e.kind == "response" and e.data["call"] == 20)
    console = Console(width=100, file=io.StringIO(), color_system=None)
    console.print(picture(frame_at(timeline, number)))
    shown = console.file.getvalue()
    frame = frame_at(timeline, number)
    assert abs(sum(frame.parts.values()) - frame.prompt_tokens) <= len(PARTS)
    for text in ("of 8,192 tokens; ^ compression begins at 4,096", "K task state", "C summary", "[~] (t", "calls 20"):
        assert text in shown
    bar = next(line for line in shown.splitlines() if "SSS" in line)
    assert bar.count("·") > 10, "what is free shows as dots"


def test_parts_add_up(conversation):
    messages = conversation(results=["x" * 400] * 3)
    parts = window_parts(messages, live=50, schemas=70)
    assert parts["tool results"] == 3 * 104
    assert parts["task state"] == 50
    assert parts["system"] > 70
    assert parts["head"] == 0
    assert set(parts) == set(PARTS)


BAD = [
    ("no file", None, "cannot be read"),
    ("no JSON", "hello", "cut short or damaged"),
    ("cut short", '{"version": 1, "messages": {}, "events": [{"kind"', "cut short or damaged"),
    ("another version", '{"version": 99}', "timeline of version 99, and this course reads version 1"),
    ("no version", "{}", "no timeline: it has no version"),
    ("a list", "[]", "no timeline: it has no version"),
    ("no events", '{"version": 1, "messages": {}}', "no list of events"),
    ("an empty run", '{"version": 1, "messages": {}, "events": []}', "empty run"),
    ("an unknown kind", '{"version": 1, "messages": {}, "events": [{"kind": "party", "data": {}}]}', "event 1 has no known"),
]  # fmt: skip


@pytest.mark.parametrize(("why", "text", "sentence"), BAD, ids=[row[0] for row in BAD])
def test_what_is_no_timeline_is_said_in_one_sentence(tmp_path, why, text, sentence):
    file = tmp_path / "run.json"
    if text is not None:
        file.write_text(text)
    with pytest.raises(TimelineError, match=sentence):
        read_timeline(file)
    run = course("replay", "run.json", folder=tmp_path)
    assert run.returncode == 1
    assert sentence in run.stderr
    assert "Traceback" not in run.stderr


def test_a_run_without_an_end_is_shown_as_far_as_it_goes(saved, tmp_path):
    document = json.loads(saved[0].read_text())
    document["events"] = document["events"][:50]
    (tmp_path / "run.json").write_text(json.dumps(document))
    run = course("replay", "--plain", "run.json", folder=tmp_path)
    assert run.returncode == 0
    assert "call    1" in run.stdout
    assert "This run has no end: it was cut off." in run.stdout


def test_an_unknown_kind_of_event_is_refused():
    with pytest.raises(TimelineError, match="there is no kind of event 'party'"):
        Timeline().add("party")


def test_a_timeline_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "file").touch()
    run = course("demo", "--plain", "--save", "file/run.json", folder=tmp_path)
    assert run.returncode == 1
    assert "cannot be written" in run.stderr
    assert "40 right" in run.stdout, "the run is not lost by it"
