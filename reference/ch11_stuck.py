"""Chapter 11 · Stuck: a last resort, then a clean end.

Compression can have nothing to work on: the first message is a book, or the newest result fills the window. An agent
that does not notice compresses again before every request, pays for each summary and never gets on. So the saving is
measured. When the list is still over the limit, the newest results are clipped, head and tail kept. When even that
saves less than 10 %, the agent stops and says so.

    before 9,000 -> after 8,900    over the limit, 1 % saved     stuck: start a new session
    before 9,000 -> after 8,900    under the limit               fine: little was saved, and little was needed
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from reference.ch05_budget import CHARS_PER_TOKEN, MESSAGE_TOKENS, estimate_message_tokens, estimate_tokens
from reference.ch10_compress import CompressingAgent, CompressionReport, Summarize, compress
from reference.messages import Message, clip, picture_count, text_of

COMPRESSION_MIN_SHRINK = 0.9  # of the tokens before: less than 10 % saved is no progress
MIN_CLIPPED_TOKENS = 40


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
    ) -> None:
        reason = f": {report.reason}" if report and report.reason else ""
        super().__init__(f"the context cannot be compressed further ({before:,} -> {after:,} tokens{reason})")
        self.before, self.after, self.messages, self.report = before, after, messages, report


def clip_newest_results(messages: Iterable[Message], token_budget: int) -> list[Message]:
    """The messages with tool results clipped in the middle until all results together fit in `token_budget` tokens.

    The longest are clipped first, to one common length, at least 40 tokens, the mark included. What is short enough
    stays the same object. Results keep their calls. The budget is in estimated tokens.
    """
    # BEGIN EXERCISE 11.1 Find the common length to which the longest results are cut, and clip them.
    messages = list(messages)
    sizes = sorted(estimate_message_tokens(message) for message in messages if message.get("role") == "tool")
    cap = _common_cap(sizes, token_budget)
    return [_clipped(message, cap) if message.get("role") == "tool" else message for message in messages]
    # END EXERCISE 11.1


def _common_cap(sizes: list[int], budget: int) -> int:
    """The largest size to which each of the sorted `sizes` must be cut so that their sum is within the budget."""
    for position, size in enumerate(sizes):
        share = budget // (len(sizes) - position)
        if size > share:
            return max(share, MIN_CLIPPED_TOKENS)
        budget -= size
    return max(sizes, default=0)


def _clipped(message: Message, cap: int) -> Message:
    """A result of at most `cap` tokens."""
    if estimate_message_tokens(message) <= cap:
        return message
    content = message.get("content")
    pictures = picture_count(content)
    text = text_of(content) + (f"\n[{pictures} left out: not text]" if pictures else "")
    return message | {"content": clip(text, (cap - MESSAGE_TOKENS) * CHARS_PER_TOKEN)}


def compress_or_raise(
    messages: Iterable[Message], summarize: Summarize, *, limit: int | None = None, **settings: Any
) -> tuple[list[Message], CompressionReport]:
    """(the compressed messages, the report), as from `compress`, with results clipped where that was not enough.

    Raises CompressionStuckError when less than 10 % was saved and the list is still over `limit` (tokens, estimated).
    Without a limit a list counts as over it once there was something to compress. Nothing to compress is a reason in
    the report, not an error.
    """
    result, report = compress(messages, summarize, limit=limit, **settings)
    if limit is not None and report.after > limit:
        result, report = _last_resort(result, report, settings.get("tail_token_budget", 20_000))
    # BEGIN EXERCISE 11.2 Raise when less than 10 % was saved and the list is still over the limit.
    over = report.after > limit if limit is not None else report.summarised > 0 or report.summary_failed
    if over and report.after >= int(report.before * COMPRESSION_MIN_SHRINK):
        raise CompressionStuckError(report.before, report.after, result, report)
    return result, report
    # END EXERCISE 11.2


def _last_resort(
    messages: list[Message], report: CompressionReport, token_budget: int
) -> tuple[list[Message], CompressionReport]:
    """The messages with clipped results, and the report of it; unchanged where clipping saves nothing."""
    clipped = clip_newest_results(messages, token_budget)
    count = sum(new is not old for new, old in zip(clipped, messages, strict=True))
    return clipped, replace(report, after=estimate_tokens(clipped), clipped=count)


class StuckAwareAgent(CompressingAgent):
    """An agent that ends the turn with one clear sentence when its context cannot be compressed further."""

    def run(self, messages: Iterable[Message]) -> dict[str, Any]:
        """What `run_conversation` returns; `stop_reason` is "stuck" when compression could not go on."""
        try:
            return super().run(messages)
        except CompressionStuckError as stuck:
            self.on_event("stuck", error=stuck)
            return self.outcome(
                f"Stopped: {stuck}. Start a new session, or give this one less to read at once.", "stuck"
            )

    def compressed(self, messages: list[Message]) -> tuple[list[Message], CompressionReport]:
        """The compressed messages and the report; a failed summary is no reason to stop while the window has room."""
        try:
            return compress_or_raise(messages, self.summarize, **self.settings())
        except CompressionStuckError as stuck:
            if stuck.report and stuck.report.summary_failed and self.prompt_tokens() < self.context_length:
                return stuck.messages or messages, stuck.report
            raise

    def is_poor(self, report: CompressionReport) -> bool:
        """Whether a compression failed or saved so little that the next summary has to wait."""
        saved_little = report.after >= int(report.before * COMPRESSION_MIN_SHRINK)
        return super().is_poor(report) or (report.outcome == "compressed" and saved_little)

    def make_room(self) -> None:
        """Compress where that is due; a request that would not fit the window even so is never sent."""
        super().make_room()
        if (tokens := self.prompt_tokens()) > self.context_length:
            raise CompressionStuckError(tokens, tokens, self.messages)
