"""Chapter 10 · Compress: the three layers together.

Repair what arrived broken, prune, look again; only then cut, summarise and assemble. The summary is a message of its
own with the role assistant, since as a user's message it would be obeyed. The anchors stand right behind it.

    before   system  user A  call result ... user B  reply  call result ... call result | call result
    after    system  (go on)  SUMMARY  user B  (...)  reply  (go on)  | call result
                              \\ made of the middle without anchors      \\ the tail, unchanged

Where two neighbours would share a role, or an assistant would come first, a generated line of the other role stands
between them: a bridge. A summary that fails, or that is not smaller than what it replaces, changes nothing: the pruned
list comes back with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from reference.ch02_tools import ToolAgent, ToolRegistry
from reference.ch05_budget import (
    TokenMeter,
    estimate_message_tokens,
    estimate_tokens,
    should_compress,
    threshold_tokens,
)
from reference.ch06_prune import prune_old_tool_results
from reference.ch07_boundaries import (
    BRIDGE_ASSISTANT,
    BRIDGE_USER,
    find_anchors,
    find_boundaries,
    is_bridge,
    is_generated,
    is_summary,
)
from reference.ch08_alignment import (
    SYSTEM_ROLES,
    _align_boundary_backward,
    _align_to_assistant_boundary,
    sanitize_tool_pairs,
)
from reference.ch09_summary import SummaryError, summary_message, summary_text
from reference.messages import GENERATED, Message

Summarize = Callable[[list[Message], str | None], str]

COMPACTION_NOTE = (
    "Earlier turns may have been compacted into a summary, which is marked as generated. "
    "It tells what was done; it is not a new instruction."
)
PRUNE_SHARE = 0.80  # of the trigger: just below it, the next result would make the agent prune again
FULL_SHARE = 0.85  # of the window: beyond it a reply may not fit any more
SUMMARY_COOLDOWN = 3  # compressions without a summary after one that failed: what is down stays down for a while


@dataclass(frozen=True)
class CompressionReport:
    """What a compression did, in estimated tokens: `outcome` is "compressed", "pruned" or "unchanged", `reason` why."""

    outcome: str
    reason: str
    before: int
    after: int
    after_pruning: int
    repairs: int = 0
    summarised: int = 0  # messages that the summary replaced
    summary_failed: bool = False
    clipped: int = 0  # results that chapter 11 clipped


@dataclass(frozen=True)
class Cut:
    """Where a list is cut: head, middle, tail, and the positions of the anchors that lie in the middle."""

    head_end: int
    tail_start: int
    anchors: tuple[int, ...]


def bridge_roles(messages: Iterable[Message]) -> list[Message]:
    """The messages with a generated line wherever a strict provider would miss a role; old bridges are dropped first.

    Two users in a row get an assistant's line between them, two assistants a user's; so does an assistant that would
    come first, and a list without any user message. The other messages are the same objects, in their order.
    """
    # BEGIN EXERCISE 10.1 Put a bridge where two neighbours share a role, or where an assistant comes first.
    bridged: list[Message] = []
    previous = None
    for message in messages:
        if is_bridge(message):
            continue
        role = message.get("role")
        if role == "assistant" and previous in (None, "assistant", *SYSTEM_ROLES):
            bridged.append({"role": "user", "content": BRIDGE_USER, GENERATED: "bridge"})
        elif role == "user" and previous == "user":
            bridged.append({"role": "assistant", "content": BRIDGE_ASSISTANT, GENERATED: "bridge"})
        bridged.append(message)
        previous = role
    if previous in SYSTEM_ROLES:
        bridged.append({"role": "user", "content": BRIDGE_USER, GENERATED: "bridge"})
    return bridged
    # END EXERCISE 10.1


def find_cut(messages: Sequence[Message], protect_first: int = 3, tail_token_budget: int = 20_000) -> Cut:
    """The cut of a repaired list: whole groups on both sides, no anchor in the head, no old summary in the tail.

    The head is the first `protect_first` messages the first time; once a summary is there only the system prompt, or
    the same head would survive for ever. It never ends with an assistant's text, which the summary would follow. The
    tail holds at least the group whose results the model has not seen.
    """
    system = int(bool(messages) and messages[0].get("role") in SYSTEM_ROLES)
    summaries = [index for index, message in enumerate(messages) if is_summary(message)]
    anchors = find_anchors(messages)
    head_end = system if summaries else max(system, protect_first)
    head_end = min([_align_to_assistant_boundary(messages, min(head_end, len(messages))), *anchors])
    while head_end > system and messages[head_end - 1].get("role") == "assistant":
        head_end -= 1
    head_end, tail_start = find_boundaries(messages, head_end, tail_token_budget)
    tail_start = min(_align_boundary_backward(messages, tail_start), _unseen_group(messages))
    tail_start = max([tail_start, head_end, *(index + 1 for index in summaries)])
    return Cut(head_end, tail_start, tuple(index for index in anchors if head_end <= index < tail_start))


def _unseen_group(messages: Sequence[Message]) -> int:
    """The position of the last assistant message when it made calls, else the end: its results are not read yet."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") == "assistant":
            return index if messages[index].get("tool_calls") else len(messages)
    return len(messages)


def prune_read(messages: Sequence[Message], keep_recent: int) -> list[Message]:
    """The messages with old results pruned, but never those of the last group: the model may not have read them."""
    newest_first = [message.get("role") == "tool" for message in reversed(messages)]
    first = newest_first.index(True) if True in newest_first else 0
    last_group = next((i for i in range(first, len(newest_first)) if not newest_first[i]), first) - first
    return prune_old_tool_results(messages, keep_recent=max(keep_recent, last_group))


def compress(
    messages: Iterable[Message],
    summarize: Summarize,
    *,
    protect_first: int = 3,
    tail_token_budget: int = 20_000,
    keep_recent: int = 3,
    in_flight: bool = False,
    limit: int | None = None,
    prune_limit: int | None = None,
) -> tuple[list[Message], CompressionReport]:
    """(the compressed messages, the report): a strict provider takes them, and nothing is lost when a step fails.

    `summarize(turns, previous_summary)` returns the summary's text; whatever it raises is a reason in the report, not
    an error. With `limit` (tokens, estimated) pruning that gets the list below it is enough, and no model is called;
    a `prune_limit` below it makes pruning rarer and its steps larger, which keeps the provider's prompt cache longer.
    `in_flight` says that results of the last group are still to come. The input is not changed.
    """
    repaired, repairs = sanitize_tool_pairs(messages, in_flight=in_flight)
    pruned = prune_read(bridge_roles(repaired), keep_recent)
    before, after_pruning = estimate_tokens(repaired), estimate_tokens(pruned)
    outcome = "pruned" if after_pruning < before else "unchanged"
    report = CompressionReport(outcome, "", before, after_pruning, after_pruning, repairs)
    enough = limit if prune_limit is None else prune_limit
    if enough is not None and after_pruning < enough:
        return pruned, replace(report, reason="below the limit without a summary")
    return _summarise(pruned, find_cut(pruned, protect_first, tail_token_budget), summarize, report)


def _summarise(
    messages: list[Message], cut: Cut, summarize: Summarize, report: CompressionReport
) -> tuple[list[Message], CompressionReport]:
    """Steps 4 and 5 of `compress`: the middle's summary in its place, or the messages as they are with the reason."""
    middle = [messages[i] for i in range(cut.head_end, cut.tail_start) if i not in cut.anchors]
    turns = [message for message in middle if not is_generated(message)]
    if not turns:
        return messages, replace(report, reason="nothing to compress between head and tail")
    old = [summary_text(message) for message in middle if is_summary(message)]
    try:
        summary = summary_message(checked_summary(summarize(turns, "\n\n".join(old) or None)))
    except Exception as error:  # whatever the summariser raises: the reason is reported, the messages are kept
        reason = f"the summary failed: {str(error) or type(error).__name__}"
        return messages, replace(report, reason=reason, summary_failed=True)
    anchors = [messages[index] for index in cut.anchors]
    result = bridge_roles([*messages[: cut.head_end], summary, *anchors, *messages[cut.tail_start :]])
    size, replaced, after = estimate_message_tokens(summary), estimate_tokens(middle), estimate_tokens(result)
    if size >= replaced or after >= min(report.before, report.after):
        reason = f"a summary of {size:,} tokens is not smaller than the {replaced:,} tokens that it replaces"
        return messages, replace(report, reason=reason, summary_failed=True)
    done = replace(report, outcome="compressed", reason="the middle was summarised", after=after, summarised=len(turns))
    return result, done


def checked_summary(text: Any) -> str:
    """`text` when it says something; anything else raises SummaryError."""
    if not isinstance(text, str) or not text.strip():
        raise SummaryError("the summary is empty")
    return text


class CompressingAgent(ToolAgent):
    """An agent that makes room before each request, also on entry: a smaller model may have been chosen.

    `context_length` is the model's window in tokens; at `threshold` of it the messages are compressed, down to a tail
    of `target_ratio` of the threshold.
    """

    def __init__(
        self,
        client: Any,
        model: str,
        registry: ToolRegistry,
        *,
        context_length: int,
        summarize: Summarize,
        threshold: float = 0.50,
        target_ratio: float = 0.20,
        protect_first: int = 3,
        keep_recent: int = 3,
        **settings: Any,
    ) -> None:
        super().__init__(client, model, registry, **settings)
        self.context_length, self.threshold = context_length, threshold
        self.target_ratio, self.protect_first, self.keep_recent = target_ratio, protect_first, keep_recent
        self._summarize = summarize
        self.meter = TokenMeter()
        self.cooldown = 0
        self.sent_estimate = 0

    def query(self) -> Message:
        """The model's reply, after making room where the next request would reach the threshold."""
        self.make_room()
        self.sent_estimate = estimate_tokens(self.outgoing(), self.tools)
        return super().query()

    def received(self, response: Any) -> None:
        """Compare the reported prompt tokens with the estimate of the same request."""
        if response.usage:
            self.meter.report(response.usage.prompt_tokens, self.sent_estimate)

    def prompt_tokens(self) -> int:
        """Tokens that the next request would have, as the provider is likely to count them."""
        return self.meter.tokens(estimate_tokens(self.outgoing(), self.tools))

    def make_room(self) -> None:
        """Compress the messages when the next request would reach the threshold."""
        tokens = self.prompt_tokens()
        if not should_compress(tokens, self.context_length, self.threshold):
            return
        self.messages, report = self.compressed(self.messages)
        if self.cooldown:
            self.cooldown -= 1
        elif self.is_poor(report):
            self.cooldown = SUMMARY_COOLDOWN
        self.on_event("compression", report=report, before=tokens, after=self.prompt_tokens())

    def is_poor(self, report: CompressionReport) -> bool:
        """Whether a compression was not worth its summary, so that the next one has to wait."""
        return report.summary_failed

    def compressed(self, messages: list[Message]) -> tuple[list[Message], CompressionReport]:
        """The messages compressed with this agent's settings, and the report."""
        return compress(messages, self.summarize, **self.settings())

    def settings(self) -> dict[str, Any]:
        """The settings of `compress`; the provider's tokens are turned into estimates, so that one ruler is used."""
        overhead = estimate_tokens(self.outgoing(), self.tools) - estimate_tokens(self.messages)
        trigger = threshold_tokens(self.context_length, self.threshold)
        return {
            "limit": self.meter.estimate(int(self.context_length * FULL_SHARE)) - overhead,
            "prune_limit": self.meter.estimate(int(trigger * PRUNE_SHARE)) - overhead,
            "tail_token_budget": self.meter.estimate(int(trigger * self.target_ratio)),
            "protect_first": self.protect_first,
            "keep_recent": self.keep_recent,
        }

    def summarize(self, turns: list[Message], previous_summary: str | None) -> str:
        """The summary of the turns; during a cooldown it is not tried."""
        if self.cooldown:
            raise SummaryError(f"the last one was of no use, and {self.cooldown} compressions go without")
        return self._summarize(turns, previous_summary)
