"""The whole path of chapters 5 to 10 without the model call: repair, count, prune, cut, assemble, bridge."""

from __future__ import annotations

from course.bench.histories import Message
from reference.ch10_compress import compress

SUMMARY = "## Goal\n" + "x" * 1_500


def prepare(messages: list[Message]) -> list[Message]:
    return messages


def run(messages: list[Message], keep: int) -> list[Message]:
    """The messages compressed to below twice what the tail may keep."""
    return compress(messages, lambda turns, previous: SUMMARY, tail_token_budget=keep, limit=2 * keep)[0]


def restore(result: list[Message]) -> list[Message]:
    return result
