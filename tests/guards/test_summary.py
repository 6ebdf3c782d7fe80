"""What the summariser is asked, and which of its replies is a summary."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reference.ch09_summary import (
    AGAIN,
    HEADINGS,
    INSTRUCTION,
    SUMMARY_TEMPLATE,
    SummaryError,
    render_turns,
    summarize_middle,
    summary_budget,
    summary_message,
    summary_text,
)
from reference.messages import clip
from tests.conftest import call
from tests.guards.builders import PICTURE, READ, REPLY, SOUND, USER, asks, called, result, said


@pytest.mark.parametrize(
    ("odd", "line"), [(5, '-> unknown {"unparsed": "5"}'), (None, "-> unknown {}"), ({}, "-> unknown {}")]
)
def test_what_stands_in_the_place_of_a_call_is_quoted(odd, line):
    assert list(render_turns([called(odd)])) == [f"[assistant]\n{line}"]


def test_a_broken_call_can_be_rendered_for_the_summariser():
    turn = {
        "role": "assistant",
        "content": {"odd": 1},
        "tool_calls": [{"id": "a"}, {"id": "b", "function": {"name": "f", "arguments": None}}],
    }
    text = "\n".join(render_turns([turn]))
    assert '{"odd": 1}' in text
    assert "-> unknown {}" in text
    assert "-> f {}" in text


class Client:
    """A client whose model says one thing for ever."""

    def __init__(self, text):
        self.text, self.requests = text, []
        self.chat = self.completions = self

    def create(self, **request):
        self.requests.append(request["messages"][0]["content"])
        choice = SimpleNamespace(message=SimpleNamespace(content=self.text), finish_reason="stop")
        return SimpleNamespace(choices=[choice])


def test_an_over_long_reply_is_refused():
    client = Client("\n".join(HEADINGS) + "x" * 900)
    assert summarize_middle([USER], client, "m", max_tokens=200)
    with pytest.raises(SummaryError, match="too long"):
        summarize_middle([USER], client, "m", max_tokens=100)


def test_the_first_heading_is_enough():
    assert summarize_middle([USER], Client("## Goal\nall"), "m") == "## Goal\nall"


def test_secrets_are_taken_out_of_requests_and_replies():
    client = Client("## Goal\nuse hunter2")
    text = summarize_middle(
        [{"role": "user", "content": "the word is hunter2"}], client, "m", redact=lambda t: t.replace("hunter2", "***")
    )
    assert text == "## Goal\nuse ***"
    assert "the word is ***" in client.requests[0]


RENDERED = [
    # (a turn behind calls with the ids "5" and "a", the lines that quote it)
    (USER, "[user]\n  u"),
    (USER | {"content": "nul \x00\nb"}, "[user]\n  nul \ufffd\n  b"),
    (USER | {"content": [said("a"), PICTURE]}, "[user]\n  a\n  [1 picture]"),
    (USER | {"content": [PICTURE, SOUND]}, "[user]\n  \n  [2 pictures]"),
    (USER | {"tool_calls": [READ]}, "[user]\n  u"),
    (REPLY | {"content": None}, "[assistant]"),
    (asks("b") | {"content": "x"}, '[assistant]\n  x\n-> read_file {"path": "a.md"}'),
    (result(5), "[tool read_file]\n  r"),
    (result("a"), "[tool grep]\n  r"),
    (result("c"), "[tool result]\n  r"),
    (USER | {"content": "x" * 3_000}, "[user]\n  " + "x" * 3_000),
    (USER | {"content": "x" * 3_001}, "[user]\n  " + clip("x" * 3_001, 3_000).replace("\n", "\n  ")),
]


@pytest.mark.parametrize(("turn", "quoted"), RENDERED, ids=range(len(RENDERED)))
def test_how_a_turn_is_quoted(turn, quoted):
    calls = called(call("5"), call("a", tool="grep"))
    assert (
        list(render_turns([calls, turn]))[1] == quoted
        if turn["role"] == "tool"
        else [*render_turns([turn])] == [quoted]
    )


@pytest.mark.parametrize(
    ("message", "text"), [(summary_message("x"), "x"), ({"content": None}, ""), ({"content": 5}, "5")]
)
def test_the_text_of_a_summary(message, text):
    assert summary_text(message) == text


def test_the_budget_is_a_whole_number_and_there_are_seven_headings():
    assert repr(summary_budget(30_001, 200_000)) == "6000"
    assert [heading[:3] for heading in HEADINGS] == ["## "] * 7


OVERHEAD = len(INSTRUCTION + SUMMARY_TEMPLATE) // 2  # tokens of the request around the turns


def test_a_summarisers_window_is_too_small_below_two_hundred_tokens_of_room():
    window = 2 * 500 + OVERHEAD + 200
    assert summarize_middle([USER], Client("## Goal"), "m", max_tokens=500, context_length=window) == "## Goal"
    with pytest.raises(SummaryError, match="too small"):
        summarize_middle([USER], Client("## Goal"), "m", max_tokens=500, context_length=window - 1)


def asked(*turns):
    """The requests for a summary of the turns, where 2,000 bytes of them have room in one."""
    client = Client("## Goal")
    summarize_middle(turns, client, "m", max_tokens=500, context_length=2 * 500 + OVERHEAD + 1_000)
    return client.requests


def quoted(size):
    """A turn that is quoted in so many bytes."""
    return USER | {"content": "x" * (size - len("[user]\n  "))}


@pytest.mark.parametrize(
    ("sizes", "requests"),
    [([100] * 20, 1), ([100] * 19 + [101], 2), ([100] * 21, 2), ([100] * 40, 2), ([100] * 39 + [101], 3)],
)
def test_the_turns_of_one_request_fill_it_to_the_byte(sizes, requests):
    assert len(asked(*map(quoted, sizes))) == requests
    assert len(asked(*[quoted(55) | {"content": "ä" * 41 + "x" * 9}] * 20, quoted(20))) == 2, "bytes, not characters"


def test_a_long_turn_is_clipped_to_its_share_of_a_request():
    text = USER | {"content": "x" * 251}
    assert next(render_turns([text], 250)) in asked(text)[0]
    fits, many = (asks(*map(str, range(count))) for count in (16, 17))
    assert len(next(render_turns([fits]))) < 500 < len(next(render_turns([many])))
    assert next(render_turns([fits])) in asked(fits)[0]
    assert clip(next(render_turns([many])), 500) in asked(many)[0]


def test_a_reply_that_is_no_summary_is_asked_for_again_with_the_whole_request():
    client = Client("done")
    with pytest.raises(SummaryError, match="lacks the headings"):
        summarize_middle([USER], client, "m")
    first, second = client.requests
    assert second == first + AGAIN
