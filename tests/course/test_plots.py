"""The pictures and the lab: they take any run and any history, and give the same bytes twice."""

from __future__ import annotations

import struct

import pytest

from course import lab, samples, strict
from course.plots import compare, message_strip, strips, tokens_over_calls, window_over_calls
from course.plots.compare import ending
from course.plots.figure import LOOKS
from course.plots.strip import short, tile_of
from course.plots.window import calls_of
from course.timeline import Timeline
from reference.ch07_boundaries import BRIDGE_USER
from reference.ch09_summary import summary_message


@pytest.fixture(scope="module")
def bare():
    return lab.survey("compression", files=14)


@pytest.fixture(scope="module")
def whole():
    return lab.survey(files=10)


def size(png):
    """(width, height) in the header of a PNG."""
    assert png.startswith(b"\x89PNG")
    return struct.unpack(">II", png[16:24])


def texts(picture):
    """Every text in a picture."""
    from matplotlib.text import Text

    return [text.get_text() for text in picture.findobj(Text) if text.get_text()]


# The lab


def test_a_run_that_overflows_is_a_timeline_with_the_providers_words(bare):
    end = bare.last("end")
    assert end["stop_reason"] == "refused"
    assert end["text"].startswith("400 context_length_exceeded: ")
    assert lab.numbers(bare)["refused"] == 1
    assert not lab.numbers(bare)["complete"]


def test_a_run_that_finishes_is_complete(whole):
    found = lab.numbers(whole)
    assert (found["ended with"], found["noted"], found["complete"]) == ("answer", 10, True)
    assert found["prunings"] + found["summaries"] > 0, "nothing was compressed: the run shows nothing"


def test_two_runs_give_the_same_timeline(whole):
    assert lab.survey(files=10).to_json() == whole.to_json()


def test_a_function_of_the_learners_takes_the_references_place():
    def find_cut(*_):
        raise NotImplementedError("exercise 7.1: not yet")

    run = lab.survey(using={"find_cut": find_cut}, files=10)
    assert run.last("end") | {"result": None} == {
        "stop_reason": "failed",
        "text": "NotImplementedError: exercise 7.1: not yet",
        "result": None,
    }


@pytest.mark.parametrize(
    ("settings", "says"),
    [({"without": "gravity"}, "there is no guard gravity; there is: prune"), ({"using": {"nope": 1}}, "nope")],
)
def test_a_name_that_is_not_there_is_said(settings, says):
    with pytest.raises(ValueError, match=says):
        lab.survey(**settings)


@pytest.mark.parametrize(
    ("messages", "answer"),
    [
        (
            [*samples.conversation(["a", "b"], reply="Done."), {"role": "assistant", "content": "x"}],
            "400 alternation: ",
        ),
        (samples.conversation(["a", "b"], parallel=2), "200: taken, "),
        (samples.conversation(["a", "b"], parallel=2)[:-1], "400 missing_result: "),
        ([{"role": "user", "content": "half \ud83d"}], "not sent: "),
    ],
)
def test_send_gives_the_providers_answer_as_a_line(messages, answer):
    assert strict.send(messages).startswith(answer)


def test_show_gives_one_line_a_message():
    lines = samples.show(samples.conversation(["x" * 500, "short"]), mark={3}).splitlines()
    assert len(lines) == 6
    assert lines[3].startswith(">   3 tool ")
    assert "(500 characters)" in lines[3]
    assert lines[4].endswith('read_file({"path": "1.md"})')


def test_a_table_has_a_column_for_each_run(bare, whole):
    lines = lab.table({"bare": bare, "whole": whole}, ["ended with", "complete"]).splitlines()
    assert [line.split() for line in lines] == [
        ["bare", "whole"],
        ["ended", "with", "refused", "answer"],
        ["complete", "no", "yes"],
    ]


# The pictures


def test_pictures_are_1280_wide_and_the_same_twice(bare, whole):
    history = samples.conversation(["text " * 50] * 4, reply="Done.")
    for make in (
        lambda: window_over_calls(whole),
        lambda: tokens_over_calls(whole),
        lambda: compare({"without": bare, "with": whole}),
        lambda: message_strip(history, cut=(2, 6), title="a history"),
        lambda: strips(history, history[:4]),
    ):
        first = make().png()
        width, height = size(first)
        assert width == 1280
        assert height <= 720
        assert make().png() == first


def test_no_type_is_smaller_than_12_points(bare, whole):
    from matplotlib.text import Text

    history = samples.conversation(["text " * 50] * 30)
    for picture in (window_over_calls(bare), compare({"a": bare, "b": whole}), message_strip(history, cut=(2, 9))):
        picture.png()
        assert min(text.get_fontsize() for text in picture.findobj(Text) if text.get_text().strip()) >= 12


def test_the_window_shows_limit_trigger_and_refusal(bare, whole):
    assert "refused: 400 context_length_exceeded" in texts(window_over_calls(bare))
    assert "window\n8,192" in texts(window_over_calls(bare))
    assert "trigger\n4,096" in texts(window_over_calls(whole))
    assert calls_of(bare).calls[-1].prompt_tokens > 8_192, "the refused request stands above the window"


def test_parts_of_a_call_add_up_to_what_was_reported(whole):
    for call in calls_of(whole).calls:
        assert sum(call.scaled().values()) == pytest.approx(call.prompt_tokens)


def test_no_two_parts_look_alike():
    assert len({(fill, hatch) for _, fill, hatch in LOOKS.values()}) == len(LOOKS)
    assert len({letter for letter, _, _ in LOOKS.values()}) == len(LOOKS)


@pytest.mark.parametrize(
    ("message", "letter"),
    [
        ({"role": "system", "content": "s"}, "S"),
        ({"role": "user", "content": "u"}, "U"),
        ({"role": "assistant", "content": "a"}, "A"),
        ({"role": "tool", "content": "r"}, "T"),
        ({"role": "tool", "content": "[Old tool output cleared to save context space: read_file, 9 characters]"}, "–"),
        (summary_message("## Goal\nx"), "C"),
        ({"role": "user", "content": BRIDGE_USER}, "b"),
    ],
)
def test_a_tile_has_the_letter_of_what_it_is(message, letter):
    assert tile_of(message).letter == letter


def test_odd_input_is_drawn_all_the_same():
    for messages in (
        [],
        [{}],
        [{"role": "tool", "content": None}],
        samples.conversation([[{"type": "text", "text": "x"}]]),
    ):
        assert size(message_strip(messages).png())[0] == 1280
    assert size(window_over_calls(Timeline()).png())[0] == 1280
    assert size(compare({"nothing": Timeline()}).png())[0] == 1280
    assert ending(Timeline()) == "stopped after 0 calls"


@pytest.mark.parametrize(("tokens", "text"), [(0, "0"), (999, "999"), (1_249, "1.2k"), (12_900, "12k")])
def test_sizes_are_short(tokens, text):
    assert short(tokens) == text
