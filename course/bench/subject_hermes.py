"""hermes-agent: its ContextCompressor with the summary call replaced by a fixed text."""

from __future__ import annotations

import logging
from typing import Any

from agent.context_compressor import ContextCompressor

from course.bench.histories import Message

logging.disable(logging.CRITICAL)


class WithoutModel(ContextCompressor):
    """A compressor that needs no model."""

    def _generate_summary(self, turns_to_summarize: Any, focus_topic: Any = None, memory_context: str = "") -> Any:
        return self._with_summary_prefix("## Goal\n" + "x" * 1_500)


def prepare(messages: list[Message]) -> list[Message]:
    return messages


def run(messages: list[Message], keep: int) -> list[Message]:
    """The messages compressed with a tail of `keep` tokens."""
    compressor = WithoutModel(model="none", quiet_mode=True, config_context_length=128_000)
    compressor.tail_token_budget = keep
    return compressor.compress(list(messages))


def restore(result: list[Message]) -> list[Message]:
    return result
