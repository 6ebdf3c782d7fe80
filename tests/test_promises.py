"""The nine promises of `compress`, each as a property of histories that are broken in places and of sound ones."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course.provider import rules
from reference.ch01_agent_loop import to_wire
from reference.ch05_budget import estimate_tokens
from reference.ch06_prune import prune_old_tool_results
from reference.ch07_boundaries import (
    SUMMARY_END,
    SUMMARY_PREFIX,
    is_bridge,
    is_request,
    is_summary,
    is_visible_reply,
)
from reference.ch08_alignment import sanitize_tool_pairs, tool_groups, validate_messages
from reference.ch10_compress import CompressionReport, compress, prune_read
from reference.ch11_stuck import COMPRESSION_MIN_SHRINK, CompressionStuckError, compress_or_raise
from reference.messages import text_of
from tests.histories import histories, sound_histories

Message = dict[str, Any]

RELAXED = settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
SETTINGS = st.fixed_dictionaries(
    {"protect_first": st.integers(0, 6), "tail_token_budget": st.integers(0, 2_000), "keep_recent": st.integers(0, 4)}
)
EVERY_HISTORY = st.one_of(histories(), sound_histories())


def summarize(turns: list[Message], previous: str | None) -> str:
    """A summariser that says how much it saw, and keeps the first line of what it updates."""
    first = previous.splitlines()[0] + " " if previous else ""
    return f"{first}## Goal {len(turns)} turns"[:200]


def passes(history: list[Message], **given_settings: Any) -> list[tuple[list[Message], CompressionReport]]:
    """The results of compressing again and again until nothing changes."""
    results = [compress(history, summarize, **given_settings)]
    while len(results) < 6:
        results.append(compress(results[-1][0], summarize, **given_settings))
        if results[-1][0] == results[-2][0]:
            return results
    raise AssertionError("no fixed point after six passes")


def last_text(messages: list[Message], wanted: Any) -> Any:
    """The content of the last message that is wanted, or None."""
    return next((message["content"] for message in reversed(messages) if wanted(message)), None)


@RELAXED
@given(EVERY_HISTORY, SETTINGS)
def test_1_a_strict_provider_takes_the_result(history, given_settings):
    for result, _ in passes(history, **given_settings):
        wire = to_wire(result)
        if wire:
            assert rules.violations(json.loads(json.dumps(wire))) == []
            assert validate_messages(wire) == []


@RELAXED
@given(EVERY_HISTORY, SETTINGS)
def test_2_system_prompt_last_request_and_last_reply_stay_word_for_word(history, given_settings):
    repaired, _ = sanitize_tool_pairs(history)
    for result, _ in passes(history, **given_settings):
        if repaired and repaired[0]["role"] == "system":
            assert result[0] is repaired[0] or result[0] == repaired[0]
        for wanted in (is_request, is_visible_reply):
            content = last_text(repaired, wanted)
            assert last_text(result, wanted) == content
            summary_at = next((i for i, m in enumerate(result) if is_summary(m)), -1)
            if content is not None and summary_at >= 0:
                assert any(wanted(message) and message["content"] == content for message in result[summary_at:])


@RELAXED
@given(EVERY_HISTORY, SETTINGS)
def test_3_there_is_one_summary_marked_and_never_nested(history, given_settings):
    for result, report in passes(history, **given_settings):
        summaries = [message for message in result if is_summary(message)]
        if report.outcome == "compressed":
            assert len(summaries) == 1
        for summary in summaries:
            assert summary["role"] == "assistant"
            assert summary["content"].count(SUMMARY_PREFIX) == summary["content"].count(SUMMARY_END) == 1


def test_3_a_second_compression_hands_the_first_summary_on(conversation):
    seen = []

    def remember(turns, previous):
        seen.append(previous)
        return f"summary {len(seen)}"

    messages = conversation(results=["x" * 4_000] * 8)
    once, _ = compress(messages, remember, tail_token_budget=10)
    grown = once + conversation(results=["y" * 4_000] * 4)[2:]
    twice, report = compress(grown, remember, tail_token_budget=10)
    assert seen == [None, "summary 1"]
    assert report.outcome == "compressed"
    assert [text_of(m["content"]) for m in twice if is_summary(m)] == [
        f"{SUMMARY_PREFIX}\n\nsummary 2\n\n{SUMMARY_END}"
    ]


@RELAXED
@given(EVERY_HISTORY, SETTINGS)
def test_4_kept_messages_are_the_same_objects_in_their_order(history, given_settings):
    before = copy.deepcopy(history)
    result, _ = compress(history, summarize, **given_settings)
    assert history == before, "the caller's messages were changed"
    place = {id(message): index for index, message in enumerate(history)}
    repaired, _ = sanitize_tool_pairs(history)
    pruned = {id(message) for message in prune_read(repaired, given_settings["keep_recent"])}
    for message in result:
        if any(message == other for other in repaired if id(other) in pruned and id(other) in place):
            continue
        for call in message.get("tool_calls") or ():
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
    order = [place[id(message)] for message in result if id(message) in place and message["role"] != "system"]
    conversation_order = [place[id(message)] for message in repaired if id(message) in place]
    assert order == [position for position in conversation_order if position in set(order)]


@RELAXED
@given(sound_histories(), SETTINGS)
def test_4_of_a_sound_history_every_kept_message_is_the_same_object(history, given_settings):
    result, _ = compress(history, summarize, **given_settings)
    originals = {id(message) for message in history}
    pruned = prune_read(history, given_settings["keep_recent"])
    allowed = [message for message in pruned if id(message) not in originals]
    for message in result:
        made_here = is_summary(message) or is_bridge(message)
        assert made_here or id(message) in originals or message in allowed


FAILURES = [
    (lambda turns, previous: (_ for _ in ()).throw(RuntimeError("rate limit")), "rate limit"),
    (lambda turns, previous: "", "empty"),
    (lambda turns, previous: None, "empty"),
    (lambda turns, previous: "  \n", "empty"),
    (lambda turns, previous: "long summary " * 40_000, "not smaller"),
]


@pytest.mark.parametrize(("failing", "reason"), FAILURES)
@RELAXED
@given(history=EVERY_HISTORY, given_settings=SETTINGS)
def test_5_a_summary_that_fails_loses_nothing(failing, reason, history, given_settings):
    result, report = compress(history, failing, **given_settings)
    repaired, _ = sanitize_tool_pairs(history)
    pruned = prune_read(repaired, given_settings["keep_recent"])
    assert [message for message in result if not is_bridge(message)] == [m for m in pruned if not is_bridge(m)]
    assert report.outcome != "compressed"
    assert reason in report.reason or "nothing to compress" in report.reason
    assert "rate limit" not in json.dumps(result)


@RELAXED
@given(EVERY_HISTORY, SETTINGS)
def test_6_the_result_is_smaller_or_there_is_a_reason_and_passes_end(history, given_settings):
    results = passes(history, **given_settings)
    assert sum(report.outcome == "compressed" for _, report in results) <= 2
    for result, report in results:
        assert report.reason
        assert report.after == estimate_tokens(result)
    result, report = results[0]
    if report.outcome == "compressed":
        assert estimate_tokens(result) < estimate_tokens(sanitize_tool_pairs(history)[0])


def test_6_one_long_turn_is_compressed_like_any_other(conversation):
    messages = conversation(results=["data " * 400] * 40)
    result, report = compress(messages, summarize, tail_token_budget=2_000)
    assert report.outcome == "compressed"
    assert report.after < report.before // 4
    assert [message["role"] for message in result[:4]] == ["system", "user", "assistant", "user"]


@RELAXED
@given(EVERY_HISTORY, SETTINGS, st.integers(0, 3_000))
def test_7_stuck_only_when_little_was_saved_and_the_list_is_over_the_limit(history, given_settings, limit):
    before = copy.deepcopy(history)
    try:
        result, report = compress_or_raise(history, summarize, limit=limit, **given_settings)
        stuck = False
    except CompressionStuckError as error:
        result, report, stuck = error.messages, error, True
    over, saved_little = report.after > limit, report.after >= int(report.before * COMPRESSION_MIN_SHRINK)
    assert stuck == (over and saved_little)
    assert history == before
    wire = to_wire(result)
    assert not wire or rules.violations(json.loads(json.dumps(wire))) == []


@RELAXED
@given(EVERY_HISTORY, st.integers(0, 4), st.integers(0, 400))
def test_8_pruning_is_idempotent_never_longer_and_says_what_was_there(history, keep_recent, min_chars):
    once = prune_old_tool_results(history, keep_recent, min_chars)
    assert prune_old_tool_results(once, keep_recent, min_chars) == once
    for old, new in zip(history, once, strict=True):
        if new is not old:
            assert estimate_tokens([new]) <= estimate_tokens([old])
            assert f"{len(text_of(old['content'])):,} characters" in new["content"] or isinstance(old["content"], list)


@RELAXED
@given(sound_histories(min_turns=5), SETTINGS)
def test_9_head_protection_ends_after_the_first_compression(history, given_settings):
    results = passes(history, **given_settings)
    if results[0][1].outcome == results[1][1].outcome == "compressed":
        body = [message for message in results[1][0] if message["role"] != "system" and not is_bridge(message)]
        assert is_summary(body[0])


@RELAXED
@given(EVERY_HISTORY)
def test_repair_is_complete_and_counted(history):
    repaired, repairs = sanitize_tool_pairs(history)
    assert sanitize_tool_pairs(repaired) == (repaired, 0), "what is repaired needs no repair"
    assert (repairs == 0) == (
        len(repaired) == len(history) and all(a is b for a, b in zip(repaired, history, strict=True))
    )
    for start, stop in tool_groups(repaired):
        assert stop - start - 1 == len(repaired[start]["tool_calls"])


@RELAXED
@given(EVERY_HISTORY)
def test_the_chapter_and_the_provider_judge_alike(history):
    """`validate_messages` is written apart from the provider's rule table, and must say the same of any list."""
    wire = to_wire(history)
    assert bool(validate_messages(wire)) == bool(rules.violations(wire))
