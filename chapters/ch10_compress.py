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

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from reference.ch02_tools import ToolRegistry
from reference.ch04_prompts import PromptAgent
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
    find_lines,
    is_bridge,
    is_generated,
    is_summary,
)
from reference.ch08_alignment import (
    _align_boundary_backward,
    _align_to_assistant_boundary,
    sanitize_tool_pairs,
)
from reference.ch09_summary import SummaryError, summary_message, summary_text
from reference.messages import GENERATED, SYSTEM_ROLES, UNKNOWN_ROLE, Message, clean_message
from reference.pairing import pair_by_place

Summarize = Callable[[list[Message], str | None], str]

COMPACTION_NOTE = (
    "Earlier turns may have been compacted into a summary, which is marked as generated. "
    "It tells what was done; it is not a new instruction."
)
PRUNE_SHARE = 0.80  # of the trigger: just below it, the next result would make the agent prune again
HEAD_SHARE = 4  # a head that takes more than a quarter of the limit is given up
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
    """Where a list is cut: head, middle, tail; the anchors that lie in the middle; every line that was generated."""

    head_end: int
    tail_start: int
    anchors: tuple[int, ...]
    generated: frozenset[int] = frozenset()


def bridge_roles(messages: Iterable[Message]) -> list[Message]:
    """The messages with a generated line wherever a strict provider would miss a role; old bridges are dropped first.

    Two users in a row get an assistant's line between them, two assistants a user's; so does an assistant that would
    come first, and a list without any user message. The other messages are the same objects, in their order.

    A bridge is {"role": "user", "content": BRIDGE_USER, GENERATED: "bridge"}, or the same with "assistant" and
    BRIDGE_ASSISTANT; `is_bridge` knows one. Results may stand in a row, and an assistant may follow them.

    Example: system, user, user becomes system, user, bridge (assistant), user.
    """
    raise NotImplementedError("exercise 10.1: Put a bridge where two neighbours share a role, or where an assistant comes first.")


def find_cut(
    messages: Sequence[Message], protect_first: int = 3, tail_token_budget: int = 20_000, head_budget: int = 0
) -> Cut:
    """The cut of a repaired list: whole groups on both sides, no anchor in the head, no old summary in the tail.

    The head is the first `protect_first` messages the first time; once a summary is there only the system prompt, or
    the same head would survive for ever. A head bigger than `head_budget` and the tail's budget is given up too. It
    never ends with an assistant's text, which the summary would follow. The tail holds at least the group that the
    model has not seen.

    `find_boundaries` counts the tail's tokens, `_align_boundary_backward` moves its cut to a group's assistant, and
    `_unseen_group` tells where the tail begins at the latest.

    Example: the request and three groups of one call and one result, each group over the budget, give
    Cut(head_end=0, tail_start=5, anchors=(0,)): the last group is the tail, and the request an anchor.
    """
    system = int(bool(messages) and messages[0].get("role") in SYSTEM_ROLES)
    lines = find_lines(messages)
    said = [messages[index] for index in lines]
    generated = [
        index
        for index, message in zip(lines, said, strict=True)
        if is_generated(message) and message.get(GENERATED) != UNKNOWN_ROLE
    ]
    summaries = [index for index in generated if is_summary(messages[index])]
    anchors = [lines[position] for position in find_anchors(said)]
    head_end = system if summaries else max(system, protect_first)
    head_end = min([_align_to_assistant_boundary(messages, min(head_end, len(messages))), *anchors])
    while head_end > system and messages[head_end - 1].get("role") == "assistant":
        head_end -= 1
    if estimate_tokens(messages[system:head_end]) > max(head_budget, tail_token_budget):
        head_end = system
    raise NotImplementedError("exercise 10.2: Cut the tail: the budget, whole groups, the unseen group; then the anchors in the middle.")


def with_room(messages: Sequence[Message], cut: Cut, limit: int) -> Cut:
    """The cut with a shorter tail where its tail takes more than half of what head and anchors leave of `limit`.

    The other half is for the summary. Whole groups fall into the middle, the oldest first, also one that is bigger than
    the tail's budget; the group that the model has not seen stays, and so does the last message.
    """
    start, unseen = cut.tail_start, min(_unseen_group(messages), len(messages) - 1)
    anchors = [*cut.anchors, *(start + index for index in find_anchors(messages[start:]))]
    fixed = estimate_tokens([*messages[: cut.head_end], *(messages[index] for index in cut.anchors)])
    tail = estimate_tokens(messages[start:])
    while tail > (limit - fixed) // 2:
        stop = _align_to_assistant_boundary(messages, start + 1)
        if stop > unseen:
            break
        tail -= estimate_tokens(messages[start:stop])
        fixed += estimate_tokens(messages[index] for index in anchors if start <= index < stop)
        start = stop
    return replace(cut, tail_start=start, anchors=tuple(index for index in anchors if index < start))


def _unseen_group(messages: Sequence[Message]) -> int:
    """The position of the last assistant message when it made calls, else the end: its results are not read yet."""
    for index in range(len(messages) - 1, -1, -1):
        if messages[index].get("role") == "assistant":
            return index if messages[index].get("tool_calls") else len(messages)
    return len(messages)


def prune_read(messages: Sequence[Message], keep_recent: int, **settings: Any) -> list[Message]:
    """The messages with old results pruned, but never those of the last group: the model may not have read them.

    They count among the newest `keep_recent`. Also where the user's words stand behind them: a request is sent after
    both. `settings` are those of `prune_old_tool_results`.

    Example: after two groups of three results each, keep_recent=1 leaves the last three, and keep_recent=4 leaves four.
    """
    raise NotImplementedError("exercise 10.3: Find the results of the last group, and prune with a `keep_recent` that spares them.")


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
    min_chars: int = 200,
    never_prune: Collection[str] = (),
) -> tuple[list[Message], CompressionReport]:
    """(the compressed messages, the report): a strict provider takes them, and nothing is lost when a step fails.

    `summarize(turns, previous_summary)` returns the summary's text; whatever it raises is a reason in the report, not
    an error. With `limit` (tokens, estimated) pruning that gets the list below it is enough, and no model is called;
    a `prune_limit` below it makes pruning rarer and its steps larger, which keeps the provider's prompt cache longer.
    `in_flight` says that results of the last group are still to come; `min_chars` and `never_prune` are those of
    chapter 6. The input is not changed. What is appended to it while the summary is made stands at the end.

    Every size is counted once, and texts are mended only where they stay: little more than a look at each message.
    """
    source = messages if isinstance(messages, list) else list(messages)
    prune = partial(prune_read, keep_recent=keep_recent, min_chars=min_chars, never_prune=never_prune)
    known = len(source)
    paired, repairs = pair_by_place(source, in_flight=in_flight)
    sizes = list(map(estimate_message_tokens, paired))
    report = CompressionReport("compressed", "the middle was summarised", before := sum(sizes), before, before, repairs)
    enough = limit if prune_limit is None else prune_limit
    if enough is not None and _may_suffice(paired, sizes, enough):
        pruned, report = _pruned(paired, repairs, prune)
        if report.after < enough:
            return pruned, replace(report, reason="below the limit without a summary")
    near = _prune_near(paired, tail_token_budget, prune)
    cut = find_cut(near, protect_first, tail_token_budget, (limit or 0) // HEAD_SHARE)
    cut = cut if limit is None else with_room(near, cut, limit)
    try:
        summary, turns = _summary(paired, sizes, cut, summarize)
        kept = prune([*near[: cut.head_end], summary, *(near[i] for i in cut.anchors), *near[cut.tail_start :]])
        return _finished(kept, turns, source, known, in_flight, report)
    except SummaryError as error:
        pruned, report = _pruned(*pair_by_place(source, in_flight=in_flight), prune)
        return pruned, replace(report, reason=str(error), summary_failed=not isinstance(error, NothingToCompressError))


class NothingToCompressError(SummaryError):
    """Between head and tail there is nothing that a summary could replace."""


def _may_suffice(messages: Sequence[Message], sizes: Sequence[int], limit: int) -> bool:
    """Whether pruning may get a list below the limit: it does not when all but the results are over it already."""
    rest = 0
    for message, size in zip(messages, sizes, strict=True):
        rest += size if message.get("role") != "tool" else 0
        if rest >= limit:
            return False
    return True


def _pruned(
    paired: list[Message], repairs: int, prune: Callable[[list[Message]], list[Message]]
) -> tuple[list[Message], CompressionReport]:
    """The whole list mended, bridged and pruned, and the report of it: what comes back where nothing is summarised."""
    repaired = list(map(clean_message, paired))
    repairs += sum(new is not old for new, old in zip(repaired, paired, strict=True))
    pruned = prune(bridge_roles(repaired))
    before, after = estimate_tokens(repaired), estimate_tokens(pruned)
    return pruned, CompressionReport("pruned" if after < before else "unchanged", "", before, after, after, repairs)


def _prune_near(messages: list[Message], budget: int, prune: Callable[[list[Message]], list[Message]]) -> list[Message]:
    """The messages with as many of the last ones pruned as a tail of `budget` tokens may hold; the rest as it is."""
    count = 128
    while True:
        start = _align_boundary_backward(messages, max(0, len(messages) - count))
        near = prune(messages[start:])
        if start == 0 or estimate_tokens(near) > budget:
            return messages[:start] + near
        count *= 4


def _summary(messages: list[Message], sizes: list[int], cut: Cut, summarize: Summarize) -> tuple[Message, int]:
    """The message that stands for the middle, and the number of turns in it; SummaryError says why there is none."""
    turns: list[Message] = []
    start = cut.head_end
    for stop in sorted({*cut.generated, *cut.anchors, cut.tail_start}):
        if start <= stop <= cut.tail_start:
            turns += messages[start:stop]
            start = stop + 1
    if not turns:
        raise NothingToCompressError("nothing to compress between head and tail")
    generated = [messages[i] for i in sorted(cut.generated) if cut.head_end <= i < cut.tail_start]
    old = [summary_text(message) for message in generated if is_summary(message)]
    try:
        summary = summary_message(checked_summary(summarize(turns, "\n\n".join(old) or None)))
    except Exception as error:  # whatever the summariser raises is a reason; the messages are kept
        raise SummaryError(f"the summary failed: {str(error) or type(error).__name__}") from error
    replaced = sum(sizes[cut.head_end : cut.tail_start]) - sum(sizes[i] for i in cut.anchors)
    if (size := estimate_message_tokens(summary)) >= replaced:
        raise SummaryError(_no_gain(size, replaced))
    return summary, len(turns)


def _finished(
    kept: list[Message], turns: int, source: list[Message], known: int, in_flight: bool, report: CompressionReport
) -> tuple[list[Message], CompressionReport]:
    """The kept messages mended and bridged, behind them what was appended to `source` since it had `known` messages."""
    late = source[known:]
    if len(source) < known:
        raise SummaryError("the messages were taken away while the summary was made")
    if late:  # a result that was missing may have come: then its stub goes
        kept = [message for message in kept if message.get(GENERATED) != "stub"]
    repaired, repairs = sanitize_tool_pairs([*kept, *late], in_flight=in_flight)
    result = bridge_roles(repaired)
    after, enough = estimate_tokens(result), min(report.before, report.after)
    if after - estimate_tokens(late) >= enough:
        raise SummaryError(_no_gain(after, enough))
    done = replace(report, outcome="compressed", reason="the middle was summarised", after=after, summarised=turns)
    return result, replace(done, repairs=report.repairs + repairs)


def _no_gain(size: int, replaced: int) -> str:
    """The reason for leaving a list as it is although there was a summary."""
    return f"a summary of {size:,} tokens is not smaller than the {replaced:,} tokens that it replaces"


def checked_summary(text: Any) -> str:
    """`text` when it says something; anything else raises SummaryError."""
    if not isinstance(text, str) or not text.strip():
        raise SummaryError("the summary is empty")
    return text


class CompressingAgent(PromptAgent):
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
        self._counted: list[Message] | None = None  # the list whose first `_count` messages make `_tokens`
        self._count = self._tokens = 0
        self.prompt.add("guidance", COMPACTION_NOTE)

    def query(self) -> Message:
        """The model's reply, after making room where the next request would reach the threshold."""
        if self.iterations == 1:
            self.mend()
        self.make_room()
        self.sent_estimate = self.estimate()
        return super().query()

    def received(self, response: Any) -> None:
        """Compare the reported prompt tokens with the estimate of the same request."""
        if response.usage:
            self.meter.report(response.usage.prompt_tokens, self.sent_estimate)

    def prompt_tokens(self) -> int:
        """Tokens that the next request would have, as the provider is likely to count them."""
        return self.meter.tokens(self.estimate())

    def estimate(self) -> int:
        """Estimated tokens of the next request: its tools, the history, and the live part behind its first message.

        Of the history only what is new since the last time is counted: a turn's work is in proportion to what it adds.
        """
        if self._counted is not self.messages or self._count > len(self.messages):
            self._counted, self._count, self._tokens = self.messages, 0, estimate_tokens([], self.tools)
        self._tokens += estimate_tokens(self.messages[self._count :])
        self._count = len(self.messages)
        return self._tokens + estimate_tokens(self.outgoing()[:1]) - estimate_tokens(self.messages[:1])

    def mend(self) -> None:
        """Repair a history that arrives broken, from a crash or from another program, before it is sent."""
        mended = bridge_roles(sanitize_tool_pairs(self.messages)[0])
        if len(mended) != len(self.messages) or any(a is not b for a, b in zip(mended, self.messages, strict=True)):
            self.replace(mended)

    def make_room(self) -> None:
        """Compress the messages when the next request would reach the threshold."""
        tokens = self.prompt_tokens()
        if not should_compress(tokens, self.context_length, self.threshold):
            return
        self._compress(tokens)

    def compress_now(self) -> None:
        """Compress the messages because the user says so: whatever the threshold, with a summary, at once."""
        self.cooldown = 0
        self._compress(self.prompt_tokens(), prune_limit=0)

    def _compress(self, tokens: int, **settings: Any) -> None:
        """Compress the messages, which have `tokens` now; the child session begins with the result.

        The system prompt is built anew: memory may have changed, and the cache is lost anyway.
        """
        messages, report = self.compressed(self.messages, **settings)
        if report.outcome == "compressed":
            self.prompt.rebuild()
            messages = self.with_prompt(messages)
        if report.outcome != "unchanged" or report.clipped:
            self.replace(messages)
        self.on_event("compression", report=report, before=tokens, after=self.prompt_tokens())
        self.judge(report)

    def judge(self, report: CompressionReport) -> None:
        """Let the next summaries wait after one that failed."""
        if self.cooldown:
            self.cooldown -= 1
        elif report.summary_failed:
            self.cooldown = SUMMARY_COOLDOWN

    def compressed(self, messages: list[Message], **settings: Any) -> tuple[list[Message], CompressionReport]:
        """The messages compressed with this agent's settings, and the report."""
        return compress(messages, self.summarize, **self.settings() | settings)

    def settings(self) -> dict[str, Any]:
        """The settings of `compress`; the provider's tokens are turned into estimates, so that one ruler is used."""
        overhead = self.estimate() - estimate_tokens(self.messages)
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
