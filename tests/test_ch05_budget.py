"""Chapter 5: what is counted, and when it is time to act."""

from __future__ import annotations

import json

import pytest

from tests.conftest import call

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 40_000}}


@pytest.mark.exercise("5.1")
@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        ({"role": "user", "content": "x" * 400}, 104),  # four characters a token, and four tokens for the message
        ({"role": "user", "content": ""}, 4),
        ({"role": "user"}, 4),
        ({"role": "user", "content": None}, 4),
        ({"role": "user", "content": [{"type": "text", "text": "x" * 400}]}, 104),  # parts count like text
        ({"role": "user", "content": [PICTURE]}, 1_004),  # a picture costs the same whatever its file size
        ({"role": "assistant", "content": None, "tool_calls": [call("c" * 10, "x" * 359)]}, 4 + (10 + 9 + 371) // 4),
        ({"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}, 6),  # badly formed, counted all the same
        ({"role": "user", "content": "x" * 400, "reasoning": "y" * 4_000}, 104),  # not sent, not counted
    ],
)
def test_a_message_costs_what_is_sent_of_it(chapter, message, tokens):
    assert chapter.estimate_message_tokens(message) == tokens


@pytest.mark.exercise("5.2")
def test_a_request_costs_its_messages_and_its_tool_schemas(chapter):
    messages = [{"role": "user", "content": "x" * 400}] * 3
    schema = {"type": "function", "function": {"name": "f", "description": "d" * 400}}
    size = len(json.dumps(schema))
    assert chapter.estimate_tokens(messages) == 312, "three messages of 104 tokens"
    assert chapter.estimate_tokens(messages, [schema]) == 312 + size // 4, "tool schemas are sent with every request"
    assert chapter.estimate_tokens(messages, [schema] * 3) == 312 + 3 * size // 4, "divide once, behind the sum"
    assert chapter.estimate_tokens([]) == 0, "nothing costs nothing"


@pytest.mark.exercise("5.2")
def test_messages_and_tools_may_come_from_a_generator(chapter):
    messages = [{"role": "user", "content": "x" * 36}] * 2
    assert chapter.estimate_tokens((message for message in messages), iter([])) == 26


@pytest.mark.exercise("5.2")
def test_chinese_in_a_schema_is_counted_as_it_is_sent(chapter):
    schema = {"type": "function", "function": {"name": "f", "description": "文" * 400}}
    tokens = len(json.dumps(schema, ensure_ascii=False)) // 4
    assert chapter.estimate_tokens([], [schema]) == tokens, "json.dumps writes six characters for one unless told"


@pytest.mark.exercise("5.3")
@pytest.mark.parametrize(
    ("tokens", "window", "threshold", "due"),
    [
        (100_000, 200_000, 0.5, True),  # reaching the threshold is enough
        (99_999, 200_000, 0.5, False),
        (150_000, 200_000, 0.5, True),  # between the threshold and the end of the window
        (7, 100, 0.07, True),  # 0.07 × 100 is 7.000000000000001 in binary
        (28, 100, 0.29, False),  # and 0.29 × 100 is 28.999999999999996
        (29, 100, 0.29, True),
        (0, 8_192, 0.5, False),
        (3, 7, 0.5, False),  # the half of seven is three and a half
        (4, 7, 0.5, True),
    ],
)
def test_the_trigger(chapter, tokens, window, threshold, due):
    assert chapter.should_compress(tokens, window, threshold) is due


@pytest.mark.exercise("5.4")
@pytest.mark.parametrize(
    ("reports", "ratio"),
    [
        ([(300, 200)], 1.5),  # JSON or Chinese: more than one token for four characters
        ([(100, 200)], 0.5),  # plain words: fewer
        ([(300, 200), (500, 1_000)], 0.5),  # only the last report counts: it is of what the window holds now
        ([(300, 200), (500, 1_000), (900, 900)], 1.0),
        ([(300, 200), (0, 50)], 1.5),  # a report of nothing says nothing
        ([(300, 200), (70, 0)], 1.5),  # nor does one for an estimate of nothing
        ([(300, 200), (0, 0)], 1.5),
    ],
)
def test_the_ratio_is_reported_by_estimated(chapter, reports, ratio):
    meter = chapter.TokenMeter()
    for prompt_tokens, estimate in reports:
        meter.report(prompt_tokens, estimate)
    assert meter.ratio == ratio, "the ratio after the reports " + ", ".join(f"{a:,} for {b:,}" for a, b in reports)


def test_the_meter_turns_estimates_into_the_providers_tokens(chapter):
    meter = chapter.TokenMeter()
    assert meter.tokens(100) == 100, "before the first report the estimate is all there is"
    meter.report(prompt_tokens=300, estimate=200)
    assert meter.tokens(100) == 150
    assert meter.estimate(150) == 100
    meter.report(prompt_tokens=0, estimate=50)
    assert meter.tokens(100) == 150, "a report of nothing says nothing"
