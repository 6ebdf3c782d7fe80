"""The replay file and the pictures of a run: the same in two makings, true to the run, and safe to open."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from course.lab import survey
from course.replay import write_pngs, write_talk
from course.replay.cuts import planned_cuts
from course.replay.picture import pictures
from course.replay.scene import MOMENTS, scenes
from course.replay.talk import talk_html
from course.replay.telling import sentence_of
from course.sentences import line_of
from course.stage.choice import Choice, run_choice
from course.timeline import Event, Timeline, TimelineError
from reference.ch08_alignment import tool_groups
from tests.course.test_demo import NO_KEY, course

ROOT = Path(__file__).resolve().parents[2]

EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)> & \0 \ud800 \u2028"


@pytest.fixture(scope="module")
def whole():
    """A survey with every guard on."""
    return run_choice(Choice(), lambda timeline, event: None)[0]


@pytest.fixture(scope="module")
def refused():
    """A survey without the alignment of cuts: the provider refuses it."""
    return run_choice(Choice(without=frozenset({"align"})), lambda timeline, event: None)[0]


def words(pieces):
    """The text of a picture, without its tags."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", "".join(pieces)))


def test_the_same_run_gives_the_same_bytes(whole, tmp_path):
    first, second = (write_talk(whole, tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert first == second


def test_the_file_asks_for_nothing(whole):
    page = talk_html(whole)
    assert "default-src 'none'" in page, "the browser itself forbids every request"
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\(|\bsrc=", page)
    assert re.findall(r'href="([^"]*)"', page) == ["data:,"]


def test_every_event_has_its_picture_and_a_sentence(whole):
    data = json.loads(re.search(r'id="run">(.*?)</script>', talk_html(whole), re.S)[1])
    assert len(data["frames"]) == len(whole.events)
    for event in whole.events:
        sentence = sentence_of(whole, event)
        assert sentence
        assert "damaged" not in sentence, event
    moments = [whole.events[place].kind for place in data["moments"]]
    assert set(moments) <= set(MOMENTS)
    assert moments.count("compression") >= 3
    assert len(data["pages"]) <= 16
    assert data["pages"][-1] == len(whole.events) - 1


def test_the_picture_shows_what_the_terminal_shows(whole):
    drawn = pictures(whole)
    number = next(e.number for e in whole.events if e.kind == "response" and e.data["call"] == 20)
    shown = words(drawn[number - 1])
    tokens = whole.events[number - 1].data["prompt_tokens"]
    assert f"Context window: {tokens:,} of 8,192 tokens" in shown
    for text in ("trigger 4,096", "window 8,192", "K task state", "C summary", "head S", "tail A", "calls 20"):
        assert text in shown
    assert " ".join(line_of(whole, whole.events[number - 1]).split()) in shown
    assert "report 40 of 40 right" in words(drawn[-1])


def test_the_cuts_that_are_drawn_are_those_that_were_made(whole):
    """What is read off the kept messages is what the chapters' own function plans for the history before."""
    seen = 0
    for scene in scenes(whole):
        if scene.event.kind == "compression" and scene.event.data["outcome"] == "compressed":
            messages = [whole.messages[one] for one in scene.history]
            tail = 400  # the tail's budget, about; the last group is always kept
            planned = planned_cuts(messages, tail)
            starts = {start for start, _ in tool_groups(messages)}
            assert scene.cuts.cut[0] == planned.cut[0]
            assert scene.cuts.cut[1] in starts, "an aligned cut falls between groups"
            seen += scene.cuts.cut != scene.cuts.raw
    assert seen >= 3, "alignment moved some of them"


def test_without_the_guard_a_cut_falls_into_a_group(refused):
    cuts = [scene.cuts for scene in scenes(refused) if scene.event.kind == "compression" and scene.after and scene.cuts]
    last = [scene for scene in scenes(refused) if scene.cuts and scene.after][-1]
    messages = [refused.messages[one] for one in last.history]
    assert cuts[-1].cut == cuts[-1].raw
    assert any(start < cuts[-1].cut[1] < stop for start, stop in tool_groups(messages))


def test_a_refusal_is_the_providers_own_error(refused):
    shown = words(pictures(refused)[-1])
    event = next(event for event in refused.events if event.kind == "refused")
    assert "The provider refused the request: 400 orphan_result" in shown
    assert event.data["text"].split("'")[0] in shown
    assert "T!" in shown, "the message at fault is marked in the history too"


def test_a_prompt_that_is_too_long_is_drawn_with_the_tokens_that_the_provider_counted():
    shown = words(pictures(survey("compression", files=20))[-1])
    assert "400 context_length_exceeded" in shown
    assert re.search(r"Context window: 8,[3-9]\d\d of 8,192 tokens: more than it holds", shown)


def hostile():
    """A timeline with texts that try to become markup."""
    timeline = Timeline(messages={"m1": {"role": "user", "content": EVIL}})
    timeline.add("run", scenario=EVIL, model="m", context_length=1_000, trigger=500, without=[EVIL])
    timeline.add("user", message="m1")
    timeline.add("request", call=1, messages=["m1"], parts={"tail": 30})
    timeline.add("tool_start", tool=EVIL, arguments={EVIL: EVIL})
    timeline.add("task_state", goal=EVIL, todos=[{"id": EVIL, "subject": EVIL, "status": EVIL}])
    timeline.add("refused", status=400, code=EVIL, text=EVIL, position=0, message="m1", messages=["m1"])
    timeline.add("end", stop_reason=EVIL, text=EVIL)
    return timeline


def test_no_text_of_a_run_becomes_markup(tmp_path):
    page = write_talk(hostile(), tmp_path / "talk.html").read_text(encoding="utf-8")
    assert page.count("<script") == 2, "the data and the program, nothing else"
    assert page.count("</script>") == 2
    assert "<img" not in page
    assert "\0" not in page
    assert all("<img" not in piece and "<script" not in piece for pieces in pictures(hostile()) for piece in pieces)


def cut_off(whole):
    return Timeline(whole.events[:50], whole.messages)


ODD = [
    ("an empty run", lambda whole: Timeline(), "This run is empty: it has no events"),
    ("a run that was cut off", cut_off, "event 1 of 50"),
    ("a message that is not there", lambda whole: Timeline(whole.events[:50], {}), "event 1 of 50"),
    ("events without their data", lambda whole: Timeline([Event(1, 1, kind, {}) for kind in ("run", "request", "response", "compression", "refused", "end")]), "event 1 of 6"),
    ("data of another kind", lambda whole: Timeline([Event(1, 1, "run", {"context_length": "big"}), Event(2, 2, "request", {"parts": 7})]), "event 1 of 2"),
]  # fmt: skip


@pytest.mark.parametrize(("why", "make", "text"), ODD, ids=[row[0] for row in ODD])
def test_of_an_odd_run_what_can_be_shown_is_shown(whole, tmp_path, why, make, text):
    assert text in write_talk(make(whole), tmp_path / "talk.html").read_text(encoding="utf-8")


def test_the_pictures_are_written_and_the_same_twice(whole, tmp_path):
    written = write_pngs(whole, tmp_path / "png")
    assert [path.name for path in written] == ["window.png", "tokens.png", "strip.png"]
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in written)
    again = write_pngs(whole, tmp_path / "again.png")
    assert [path.name for path in again] == ["again.png"]
    assert again[0].read_bytes() == written[0].read_bytes()
    assert [path.name for path in write_pngs(Timeline(), tmp_path / "empty")] == ["window.png", "tokens.png"]
    with pytest.raises(TimelineError, match="damaged in the file"):
        write_pngs(Timeline([Event(1, 1, "request", {})]), tmp_path / "damaged")


def test_the_command_writes_both(whole, tmp_path):
    whole.save(tmp_path / "run.json")
    run = course("replay", "run.json", "--html", "talk.html", "--png", "pictures", folder=tmp_path)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "talk.html").read_bytes() == talk_html(whole).encode()
    assert (tmp_path / "pictures" / "window.png").exists()
    (tmp_path / "file").touch()
    run = course("replay", "run.json", "--html", "file/talk.html", folder=tmp_path)
    assert run.returncode == 1
    assert "cannot be written" in run.stderr
    assert "Traceback" not in run.stderr


def test_a_demo_can_be_walked_back_on_a_terminal(tmp_path):
    from tests.course.test_terminal import play

    code, shown = play(["demo", "--step"], "nnnppnnnq", tmp_path)
    assert code == 1
    assert "p: back" in shown
    assert "Interrupted. The report written so far is kept" in shown
    bars = re.findall(r"([\d,]+) of 8,192 tokens", shown)
    assert bars.index("574") < len(bars) - 1 - bars[::-1].index("574"), "an earlier picture came back"


# The commands of "Teaching with it" in the README, each with what the class sees.

COMMANDS = [
    ("course demo --step", 0, "40 right, 0 wrong"),
    ("course demo --without align", 1, "the provider refused the request: 400 orphan_result"),
    ("course demo --without task-state", 1, "stopped after 110 calls, its limit, without an end"),
    ("course demo --window 32768 --without task-state", 0, "40 right, 0 wrong"),
    ("course check 6.1", 1, "not started"),
    ("course demo --save run.json", 0, "The timeline is in run.json"),
    ("course replay run.json --html talk.html", 0, "talk.html is written"),
    ("course replay run.json --png pictures", 0, "window.png is written"),
    ("course replay run.json --step", 0, "40 right, 0 wrong"),
]


@pytest.mark.slow
def test_every_command_of_the_talks_shows_what_the_readme_says(tmp_path):
    from course.stubs import make_stubs

    (tmp_path / "chapters").mkdir()
    for name, text in make_stubs(ROOT / "reference").items():
        (tmp_path / "chapters" / name).write_text(text, encoding="utf-8")
    environment = NO_KEY | {"COURSE_CHAPTERS": str(tmp_path / "chapters")}
    for command, code, text in COMMANDS:
        plain = command.removeprefix("course ").replace("--step", "--plain").split()
        run = course(*plain, folder=tmp_path, environment=environment)
        assert (run.returncode, text in run.stdout + run.stderr) == (code, True), (
            command + run.stdout[-900:] + run.stderr
        )


def test_the_talks_of_the_readme_hold_no_other_command():
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## Teaching with it")[1].split("\n## ")[0]
    named = set(re.findall(r"`(course [^`]+)`", section))
    assert named == {command for command, _, _ in COMMANDS}
