"""Recorded transcripts, compressed at several windows while they grow message by message as they did in life."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from course.provider import rules
from reference.ch01_agent_loop import to_wire
from reference.ch05_budget import estimate_tokens, threshold_tokens
from reference.ch07_boundaries import find_anchors
from reference.ch10_compress import CompressionReport
from reference.ch11_stuck import CompressionStuckError, compress_or_raise
from tests.conftest import recorded_transcripts

Message = dict[str, Any]
TRANSCRIPTS = recorded_transcripts()
GAVE_UP_AT_MOST = 0.05

pytestmark = pytest.mark.skipif(not TRANSCRIPTS, reason="the recorded transcripts are not beside the project")


def summarize(turns: list[Message], previous: str | None) -> str:
    return f"## Goal\nas asked\n## Progress\n{len(turns)} turns of work were done"


def grow(transcript: list[Message], limit: int, tail: int) -> tuple[list[Message], Counter[str], list[list[Message]]]:
    """The last list, the outcomes, and every list after a compression, of a transcript that grows to its end."""
    messages: list[Message] = []
    outcomes: Counter[str] = Counter()
    lists = []
    size = 0
    for message in transcript:
        messages.append(message)
        size += estimate_tokens([message])
        if size < limit or message["role"] == "assistant":
            continue
        before = messages
        try:
            messages, report = compress_or_raise(messages, summarize, limit=limit, tail_token_budget=tail)
            outcomes[outcome(report)] += 1
        except CompressionStuckError as stuck:
            messages = list(stuck.messages or ())
            outcomes["stuck" if must_stay(before) < limit // 2 else "stuck: too little room"] += 1
        size = estimate_tokens(messages)
        lists.append(list(messages))
    return messages, outcomes, lists


def outcome(report: CompressionReport) -> str:
    return report.outcome if report.outcome != "pruned" or "below" not in report.reason else "compressed"


def must_stay(messages: list[Message]) -> int:
    """Tokens that no compression may touch: the system prompt and the anchors."""
    return estimate_tokens([*messages[:1], *(messages[index] for index in find_anchors(messages))])


@pytest.mark.parametrize(
    ("window", "threshold"), [(4_096, 0.5), (4_096, 0.85), (8_192, 0.3), (8_192, 0.5), (32_768, 0.5)]
)
def test_every_list_is_taken_and_nearly_all_are_compressed(window, threshold, capsys):
    limit = threshold_tokens(window, threshold)
    total: Counter[str] = Counter()
    for name, transcript in TRANSCRIPTS:
        _, outcomes, lists = grow(transcript, limit, tail=limit // 5)
        total += outcomes
        for messages in lists:
            assert rules.violations(to_wire(messages)) == [], name
    gave_up = total["unchanged"] + total["stuck"] + total["pruned"]
    with capsys.disabled():
        print(f"\n  window {window:,} at {threshold:.0%}: {dict(total)}")
    assert total["compressed"] > 0
    assert gave_up <= GAVE_UP_AT_MOST * (gave_up + total["compressed"])
