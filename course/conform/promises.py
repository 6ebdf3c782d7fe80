"""The nine promises of `compress`, looked at after one compression: which of them a result breaks.

The same function judges recorded transcripts here and generated histories in the tests.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from course.provider.rules import violations
from reference.ch01_agent_loop import to_wire
from reference.ch05_budget import estimate_tokens
from reference.ch06_prune import PLACEHOLDER_START, prune_old_tool_results
from reference.ch07_boundaries import (
    SUMMARY_END,
    SUMMARY_PREFIX,
    is_bridge,
    is_generated,
    is_request,
    is_summary,
    is_visible_reply,
)
from reference.ch08_alignment import sanitize_tool_pairs
from reference.ch10_compress import CompressionReport
from reference.ch11_stuck import COMPRESSION_MIN_SHRINK
from reference.messages import GENERATED, SYSTEM_ROLES, Message, text_of


@dataclass(frozen=True)
class Compression:
    """One compression: the list before, the list after, the report; `limit` in tokens; whether it raised as stuck."""

    before: Sequence[Message]
    after: Sequence[Message]
    report: CompressionReport
    limit: int | None = None
    stuck: bool = False


def broken_promises(done: Compression) -> list[str]:
    """A sentence for each promise that a compression broke, with the promise's number; [] when it kept them all."""
    repaired, _ = sanitize_tool_pairs(done.before)
    found = [f"1: {violation.message}" for violation in violations(to_wire(done.after))[:1]] if done.after else []
    for number, promise in PROMISES:
        found += [f"{number}: {problem}" for problem in promise(done, repaired)]
    return found


def _words_stay(done: Compression, repaired: list[Message]) -> Iterator[str]:
    """2: system prompt, last request and last visible reply stand in the result, behind the summary."""
    if repaired and repaired[0].get("role") in SYSTEM_ROLES and done.after[0] != repaired[0]:
        yield "the system prompt is another"
    compressed = done.report.outcome == "compressed"  # else an old summary stands where it stood
    behind = next((index for index, message in enumerate(done.after) if compressed and is_summary(message)), 0)
    for what, wanted in (("request", is_request), ("visible reply", is_visible_reply)):
        last = next((message for message in reversed(repaired) if wanted(message)), None)
        kept = [message.get("content") for message in done.after[behind:] if wanted(message)]
        if last is not None and (not kept or kept[-1] != last.get("content")):
            yield f"the last {what} is not there word for word, behind the summary"


def _one_summary(done: Compression, repaired: list[Message]) -> Iterator[str]:
    """3: exactly one summary when it compressed, marked, never nested."""
    summaries = [message["content"] for message in done.after if is_summary(message)]
    if done.report.outcome == "compressed" and len(summaries) != 1:
        yield f"{len(summaries)} summaries"
    if any(text.count(SUMMARY_PREFIX) != 1 or text.count(SUMMARY_END) != 1 for text in summaries):
        yield "a summary in a summary"


def _same_objects(done: Compression, repaired: list[Message]) -> Iterator[str]:
    """4: what is kept is the same object, in order, or changed in its content only; arguments stay JSON objects."""
    places = {id(message): place for place, message in enumerate(done.before)}
    known = [places[id(message)] for message in done.after if id(message) in places]
    system = [place for place in known if done.before[place].get("role") in SYSTEM_ROLES]
    if (ordered := [place for place in known if place not in system]) != sorted(ordered) and not done.report.repairs:
        yield "kept messages stand in another order"
    changed = [m for m in done.after if id(m) not in places and not is_generated(m) and GENERATED not in m]
    if not done.report.repairs:
        originals = {str(_without_content(message)) for message in done.before}
        if any(message["role"] != "tool" or str(_without_content(message)) not in originals for message in changed):
            yield "a message that needed no repair is another object, or lost a key"
    calls = [call["function"]["arguments"] for sent in to_wire(done.after) for call in sent.get("tool_calls") or ()]
    if not all(isinstance(json.loads(arguments), dict) for arguments in calls):
        yield "arguments are no JSON object"


def _without_content(message: Message) -> dict[str, Any]:
    return {key: value for key, value in message.items() if key != "content"}


def _failure_loses_nothing(done: Compression, repaired: list[Message]) -> Iterator[str]:
    """5: without a summary every message is still there, bridges apart."""
    if done.report.outcome != "compressed":
        lines = [[m.get("role") for m in messages if not is_bridge(m)] for messages in (done.after, repaired)]
        if lines[0] != lines[1]:
            yield "a message is gone although nothing was summarised"


def _smaller(done: Compression, repaired: list[Message]) -> Iterator[str]:
    """6: the report is true, and the result is smaller than the repaired input, or there is a reason."""
    after = estimate_tokens(done.after)
    if after != done.report.after or not done.report.reason:
        yield f"the report says {done.report.after:,} tokens, there are {after:,}; the reason is {done.report.reason!r}"
    if done.report.outcome == "compressed" and after >= estimate_tokens(repaired):
        yield "the result is not smaller"


def _stuck_for_a_reason(done: Compression, repaired: list[Message]) -> Iterator[str]:
    """7: stuck means little saved and over the limit, and nothing else does."""
    if done.limit is not None:
        little = done.report.after >= int(done.report.before * COMPRESSION_MIN_SHRINK)
        if done.stuck != (little and done.report.after > done.limit):
            yield f"stuck is {done.stuck}, with {done.report.before:,} -> {done.report.after:,} and {done.limit:,}"


def _pruning(done: Compression, repaired: list[Message]) -> Iterator[str]:
    """8: what was pruned says what was there; pruning again changes nothing."""
    once = prune_old_tool_results(done.after, 3)
    if prune_old_tool_results(once, 3) != once:
        yield "pruning twice is not pruning once"
    placeholders = [text_of(m.get("content")) for m in done.after if m.get("role") == "tool"]
    if any(text.startswith(PLACEHOLDER_START) and "characters" not in text for text in placeholders):
        yield "a placeholder that does not say what was there"


def _head_ends(done: Compression, repaired: list[Message]) -> Iterator[str]:
    """9: once a summary was in the list, nothing but the system prompt stands before the new one."""
    if done.report.outcome == "compressed" and any(map(is_summary, repaired)):
        body = [m for m in done.after if m.get("role") not in SYSTEM_ROLES and not is_bridge(m)]
        if not is_summary(body[0]):
            yield "the head of the first compression is still protected"


Promise = Callable[[Compression, list[Message]], Iterator[str]]
PROMISES: tuple[tuple[int, Promise], ...] = (
    (2, _words_stay),
    (3, _one_summary),
    (4, _same_objects),
    (5, _failure_loses_nothing),
    (6, _smaller),
    (7, _stuck_for_a_reason),
    (8, _pruning),
    (9, _head_ends),
)
