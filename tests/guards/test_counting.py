"""What is counted, to the character: content, calls, pictures, text without a break."""

from __future__ import annotations

import pytest

from reference.ch05_budget import TokenMeter, estimate_message_tokens, should_compress, threshold_tokens
from reference.messages import clean_message
from tests.conftest import call
from tests.guards.builders import BLOB, called, result

WEIGHED = [
    ("base64 in a text", result("a", "data:image/png;base64," + BLOB), len(BLOB)),
    ("base64 between words", result("a", "word " * 4_000 + BLOB), len(BLOB) + 5_000),
    ("base64 in an argument", {"role": "assistant", "content": None, "tool_calls": [call("c", BLOB)]}, len(BLOB)),
    ("words", result("a", "word " * 8_000), 10_000),
    ("one letter over and over", result("a", "x" * 40_000), 10_000),
    ("a long line of JSON", result("a", '{"key":"value","n":[1,2,3]},' * 1_000), 7_000),
    ("a short text is not looked through", result("a", BLOB[:4_000]), 1_000),
]


@pytest.mark.parametrize(("what", "message", "tokens"), WEIGHED, ids=[row[0] for row in WEIGHED])
def test_a_long_run_without_a_break_costs_a_token_a_character(what, message, tokens):
    assert estimate_message_tokens(message) == pytest.approx(tokens, rel=0.03)


@pytest.mark.parametrize(
    "function", [{}, {"name": "f"}, {"name": "f", "arguments": None}, {"name": None, "arguments": 3}]
)
def test_a_broken_call_costs_no_more_than_what_is_sent_of_it(function):
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": function}]}
    assert estimate_message_tokens(message) <= estimate_message_tokens(clean_message(message))


def holes(*places):
    """4,352 characters of base64, 17 blocks, with a full stop at the places."""
    return "".join("." if i in places else letter for i, letter in enumerate(BLOB[:4_352]))


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (BLOB[:4_096], 0),  # not looked through
        (BLOB[:4_097], 16),
        (BLOB[:4_351], 16),
        (BLOB[:4_352], 17),
        (holes(255), 16),  # each place is in one block
        (holes(256), 16),
        (holes(511), 16),
        (holes(512), 16),
        ("abcdef" * 1_000, 0),
        ("abcdefg" * 1_000, 27),
    ],
    ids=range(10),
)
def test_each_unbroken_block_of_a_long_text_costs_a_token_a_character(text, blocks):
    assert estimate_message_tokens(result("a", text)) == 4 + (len(text) + 3 * 256 * blocks) // 4
    message = called({"id": "", "function": {"name": "", "arguments": text}})
    assert estimate_message_tokens(message) == 4 + (len(text) + 3 * 256 * blocks) // 4


def test_every_call_is_counted_to_the_character():
    ten, eleven = ({"id": "a", "function": {"name": "f", "arguments": "x" * size}} for size in (8, 9))
    assert estimate_message_tokens(called(ten, ten)) == 4 + 20 // 4
    assert estimate_message_tokens(called(ten, ten | {"id": ""})) == 4 + 19 // 4
    assert estimate_message_tokens(called(ten, eleven, eleven)) == 4 + 32 // 4
    assert estimate_message_tokens(called(ten, "x" * 600, "x" * 600)) == 4 + 1_210 // 4


def test_half_of_the_window_is_the_threshold_and_six_places_count():
    assert threshold_tokens(1_000) == 500
    assert [should_compress(tokens, 1_000) for tokens in (499, 500)] == [False, True]
    assert [threshold_tokens(1, share) for share in (2.0000004, 2.000004)] == [2, 3]


@pytest.mark.parametrize(("reported", "estimated", "ratio"), [(1, 2, 0.5), (2, 1, 2), (0, 5, 1), (5, 0, 1)])
def test_one_token_is_a_report(reported, estimated, ratio):
    meter = TokenMeter()
    meter.report(reported, estimated)
    assert meter.ratio == ratio
    assert isinstance(meter.estimate(3), int)
