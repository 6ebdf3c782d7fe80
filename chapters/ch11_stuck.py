"""Chapter 11 · Stuck: a last resort, then a clean end.

Compression can have nothing to work on: the first message is a book, or the newest result fills the window. An agent
that does not notice compresses again before every request, pays for each summary and never gets on. So the saving is
measured. When the list is still over the limit, the newest results are clipped, head and tail kept. When even that
saves less than 10 %, the agent stops and says so.

    before 9,000 -> after 8,900    over the limit, 1 % saved     stuck: start a new session
    before 9,000 -> after 8,900    under the limit               fine: little was saved, and little was needed
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from reference.ch05_budget import (
    CHARS_PER_TOKEN,
    MESSAGE_TOKENS,
    estimate_message_tokens,
    estimate_tokens,
    should_compress,
)
from reference.ch07_boundaries import find_anchors
from reference.ch10_compress import SUMMARY_COOLDOWN, CompressingAgent, CompressionReport, Summarize, compress
from reference.messages import SYSTEM_ROLES, Message, clip, picture_count, text_of

COMPRESSION_MIN_SHRINK = 0.9  # of the tokens before: less than 10 % saved is no progress
MIN_CLIPPED_TOKENS = 40
MAX_POOR_SUMMARIES = 3  # each was paid for
FREQUENT = 8  # requests in a row, each with a compression before it: every one succeeds, and yet something is wrong


class CompressionStuckError(RuntimeError):
    """Compression saved less than 10 % and the list is still over the limit; `before` and `after` in estimated tokens.

    `messages` is the list as far as it got, and `report` says why it got no further.
    """

    def __init__(
        self,
        before: int,
        after: int,
        messages: list[Message] | None = None,
        report: CompressionReport | None = None,
        reason: str = "",
    ) -> None:
        reason = reason or (report.reason if report else "")
        reason = f": {reason}" if reason else ""
        found = largest(messages) if messages else ""
        super().__init__(f"the context cannot be compressed further ({before:,} -> {after:,} tokens{reason}){found}")
        self.before, self.after, self.messages, self.report = before, after, messages, report


def largest(messages: Sequence[Message]) -> str:
    """Which message takes up most of the context, as the end of a sentence: the user can do something about it."""
    sizes = list(map(estimate_message_tokens, messages))
    place = sizes.index(max(sizes))
    return f"; the largest message is number {place}, role {messages[place].get('role')}, {sizes[place]:,} tokens"


def clip_newest_results(messages: Iterable[Message], token_budget: int) -> list[Message]:
    """The messages with tool results clipped in the middle until all results together fit in `token_budget` tokens.

    The longest are clipped first, to one common length, at least 40 tokens, the mark included. What is short enough
    stays the same object. Results keep their calls. The budget is in estimated tokens.
    """
    messages = list(messages)
    sizes = sorted(estimate_message_tokens(message) for message in messages if message.get("role") == "tool")
    cap = _common_cap(sizes, token_budget)
    return [_clipped(message, cap) if message.get("role") == "tool" else message for message in messages]


def _common_cap(sizes: list[int], budget: int) -> int:
    """The largest size to which each of the sorted `sizes` must be cut so that their sum is within the budget.

    Sizes up to it stay as they are. At least MIN_CLIPPED_TOKENS; the largest size where everything fits; 0 for no
    sizes.

    Example: for [100, 5_000] and a budget of 1,000 it is 900; for [5_000, 5_000] it is 500.
    """
    raise NotImplementedError("exercise 11.1: Give the short ones what they need, and share what is left among the longer ones.")


def _clipped(message: Message, cap: int) -> Message:
    """A result of at most `cap` tokens."""
    if estimate_message_tokens(message) <= cap:
        return message
    content = message.get("content")
    pictures = picture_count(content)
    text = text_of(content) + (f"\n[{pictures} left out: not text]" if pictures else "")
    tokens = estimate_message_tokens({"content": text}) - MESSAGE_TOKENS
    rate = max(1, min(CHARS_PER_TOKEN, len(text) // max(1, tokens)))  # of base64 a token is one character
    return message | {"content": clip(text, (cap - MESSAGE_TOKENS) * rate)}


def compress_or_raise(
    messages: Iterable[Message], summarize: Summarize, *, limit: int | None = None, **settings: Any
) -> tuple[list[Message], CompressionReport]:
    """(the compressed messages, the report), as from `compress`, with results clipped where that was not enough.

    Raises CompressionStuckError when less than 10 % was saved and the list is still over `limit` (tokens, estimated).
    Without a limit a list counts as over it once there was something to compress: the report says `summarised` > 0 or
    `summary_failed`. Nothing to compress is a reason in the report, not an error.

    Example: before 9,000, after 8,900: over a limit of 8,000 it raises CompressionStuckError(9_000, 8_900, result,
    report); under a limit of 9,000 the pair (result, report) is returned.
    """
    result, report = compress(messages, summarize, limit=limit, **settings)
    if limit is not None and report.after > limit:
        result, report = _last_resort(result, report, settings.get("tail_token_budget", 20_000), limit)
    raise NotImplementedError("exercise 11.2: Raise when less than 10 % was saved and the list is still over the limit.")


def _last_resort(
    messages: list[Message], report: CompressionReport, token_budget: int, limit: int
) -> tuple[list[Message], CompressionReport]:
    """The messages with clipped results, and the report of it; unchanged where clipping saves nothing.

    The results get `token_budget`, or what all the rest leaves of the limit where that is less.
    """
    rest = estimate_tokens(message for message in messages if message.get("role") != "tool")
    clipped = clip_newest_results(messages, min(token_budget, max(0, limit - rest - 1)))
    count, after = sum(new is not old for new, old in zip(clipped, messages, strict=True)), estimate_tokens(clipped)
    reason = f"below the limit with clipped results; {report.reason}" if after < limit else report.reason
    outcome = "pruned" if report.outcome == "unchanged" and count else report.outcome
    return clipped, replace(report, outcome=outcome, reason=reason, after=after, clipped=count)


def must_stay(messages: Sequence[Message]) -> int:
    """Estimated tokens that no compression can touch: the system prompt and the anchors.

    `find_anchors` gives their positions. The system prompt is the first message where its role is one of SYSTEM_ROLES.

    Example: a system prompt of 104 tokens, a request of 204 and ten results of 9,000 make 308.
    """
    raise NotImplementedError("exercise 11.3: Add up the system prompt, where there is one, and the anchors.")


class StuckAwareAgent(CompressingAgent):
    """An agent that ends the turn with one clear sentence when its context cannot be compressed further."""

    poor_in_a_row = 0
    due_in_a_row = 0

    def run(self, messages: Iterable[Message]) -> dict[str, Any]:
        """What `run_conversation` returns; `stop_reason` is "stuck" when compression could not go on."""
        try:
            return super().run(messages)
        except CompressionStuckError as stuck:
            self.keep([], turn="done")
            self.on_event("stuck", error=stuck)
            return self.outcome(
                f"Stopped: {stuck}. Start a new session, or give this one less to read at once.", "stuck"
            )

    def compressed(self, messages: list[Message], **settings: Any) -> tuple[list[Message], CompressionReport]:
        """The compressed messages and the report.

        A summary that had to wait is tried at once before the agent gives up; one that failed is no reason to stop
        while the window has room.
        """
        try:
            return compress_or_raise(messages, self.summarize, **self.settings() | settings)
        except CompressionStuckError as stuck:
            if self.cooldown:
                self.cooldown = 0
                return self.compressed(messages, **settings)
            if stuck.report and stuck.report.summary_failed and self.prompt_tokens() < self.context_length:
                return stuck.messages or messages, stuck.report
            raise

    def judge(self, report: CompressionReport) -> None:
        """Raise CompressionStuckError after three summaries in a row that each saved less than 10 %.

        Only a report whose outcome is "compressed" is judged. `poor_in_a_row` counts; a summary that saved enough, with
        `after` below int(before * COMPRESSION_MIN_SHRINK), sets it to 0. After each poor one the next SUMMARY_COOLDOWN
        compressions go without (`cooldown`). The error gets before, after, this agent's messages, and the report.

        Example: 9,000 -> 8,900 tokens three times in a row raises at the third; not with 9,000 -> 4,000 in between.
        """
        super().judge(report)
        raise NotImplementedError("exercise 11.4: Count the poor summaries in a row, let the next ones wait, and raise at the third.")

    def make_room(self) -> None:
        """Compress where that is due, and where it can help; a request that would not fit the window is never sent.

        Whoever listens hears "frequent" when that was due before each of the last FREQUENT requests: no single
        compression failed, but the window is too small for the work, or a tool returns too much.
        """
        due = should_compress(self.prompt_tokens(), self.context_length, self.threshold)
        self.due_in_a_row = self.due_in_a_row + 1 if due else 0
        if self.due_in_a_row == FREQUENT:
            self.on_event("frequent", count=FREQUENT)
        stays = self.meter.tokens(must_stay(self.messages)) if due else 0
        if should_compress(stays, self.context_length, self.threshold):
            reason = "the system prompt and the last request alone reach the threshold"
            raise CompressionStuckError(stays, stays, self.messages, reason=reason)
        super().make_room()
        if (tokens := self.prompt_tokens()) > self.context_length:
            raise CompressionStuckError(tokens, tokens, self.messages)
