"""What fills the window, by part."""

from __future__ import annotations

from collections.abc import Sequence

from reference.ch05_budget import estimate_message_tokens
from reference.ch07_boundaries import find_anchors, is_bridge, is_summary
from reference.messages import SYSTEM_ROLES, Message

# In the order in which a picture shows them.
PARTS = ("system", "task state", "head", "summary", "anchors", "tool results", "tail")


def part_of_each(messages: Sequence[Message]) -> list[str]:
    """The part that each message belongs to; bridges count to the summary, calls and texts behind it to the tail.

    The head is what stands before a summary; without a summary there is none, and the request is an anchor.
    """
    anchors = set(find_anchors(messages))
    summary = next((index for index, message in enumerate(messages) if is_summary(message)), 0)
    return [_part(index, message, anchors, summary) for index, message in enumerate(messages)]


def _part(index: int, message: Message, anchors: set[int], summary: int) -> str:
    if message.get("role") in SYSTEM_ROLES:
        return "system"
    if is_summary(message) or is_bridge(message):
        return "summary"
    if message.get("role") == "tool":
        return "tool results"
    if index in anchors:
        return "anchors"
    return "head" if index < summary else "tail"


def window_parts(messages: Sequence[Message], live: int, schemas: int) -> dict[str, int]:
    """Estimated tokens by part: `live` of the task state, `schemas` of the tools, which count to the system part."""
    tokens = dict.fromkeys(PARTS, 0)
    for message, part in zip(messages, part_of_each(messages), strict=True):
        tokens[part] += estimate_message_tokens(message)
    tokens["system"] += schemas
    tokens["task state"] += live
    return tokens
