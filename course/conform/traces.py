"""Recorded transcripts, compressed again and again while they grow message by message, as they did in life."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course.conform.promises import Compression, broken_promises
from reference.ch03_sessions import SessionStore
from reference.ch05_budget import estimate_message_tokens, estimate_tokens, threshold_tokens
from reference.ch07_boundaries import find_anchors
from reference.ch08_alignment import sanitize_tool_pairs
from reference.ch11_stuck import CompressionStuckError, compress_or_raise
from reference.messages import SYSTEM_ROLES, Message

WINDOWS = (4_096, 8_192, 16_384, 32_768, 65_536, 131_072)
THRESHOLDS = (0.3, 0.5, 0.7, 0.85)
TAIL_SHARE = 5  # the tail is a fifth of the limit
GAVE_UP_AT_MOST = 0.05
COMPRESSED = "compressed"


class TranscriptError(ValueError):
    """A file that holds no transcript; the text is a sentence with its name."""


@dataclass
class Tally:
    """What came out so far: outcomes where head and last request fit, and where they do not; problems; repairs."""

    fits: Counter[str] = field(default_factory=Counter)
    too_big: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    repairs: int = 0

    @property
    def gave_up(self) -> float:
        """The share of compressions that are anything but compressed, where head and last request fit."""
        total = self.fits.total()
        return (total - self.fits[COMPRESSED]) / max(1, total)


def summarize(turns: list[Message], previous_summary: str | None) -> str:
    """A summary that says how much it stands for."""
    return f"## Goal\nas asked\n## Progress\n### Done\n{len(turns)} turns of work were done"


def read_transcript(path: Path) -> list[Message]:
    """The messages of a transcript file: a list, or an object with the list under `messages`."""
    try:
        data = json.loads(path.read_bytes().decode("utf-8", "surrogatepass"))
    except (OSError, ValueError, RecursionError) as error:
        where = f":{error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise TranscriptError(f"{path}{where}: this is no JSON: {error}.") from None
    messages = data.get("messages") if isinstance(data, dict) else data
    if not isinstance(messages, list):
        raise TranscriptError(f"{path}:1: expected a list of messages, found {type(messages).__name__}.")
    for place, message in enumerate(messages):
        if not isinstance(message, dict):
            raise TranscriptError(f"{path}:1: message {place} is no object but {type(message).__name__}.")
    return messages


def run_traces(folder: Path, out: Callable[[str], None]) -> int:
    """Grow and compress every transcript of a folder at every window; 1 when a promise broke or a file is none."""
    transcripts: list[tuple[str, list[Message]]] = []
    bad = 0
    for path in sorted(folder.glob("*.json")):
        try:
            transcripts.append((path.stem, read_transcript(path)))
        except TranscriptError as error:
            out(str(error))
            bad += 1
    if not transcripts:
        out(f"{folder}: there is no transcript (*.json) in this folder.")
        return 1
    repairs = [sanitize_tool_pairs(messages)[1] for _, messages in transcripts]
    out(f"{len(transcripts)} transcripts; {sum(map(bool, repairs))} arrived broken: {sum(repairs):,} repairs.")
    return max(int(bad > 0), _run_windows(transcripts, out))


def _run_windows(transcripts: list[tuple[str, list[Message]]], out: Callable[[str], None]) -> int:
    """Print a line for each window and threshold, and what is wrong; 1 when anything is."""
    total = Tally()
    for window in WINDOWS:
        for threshold in THRESHOLDS:
            tally = Tally()
            with tempfile.TemporaryDirectory() as scratch, SessionStore(Path(scratch) / "sessions.sqlite") as store:
                for name, messages in transcripts:
                    limit = threshold_tokens(window, threshold)
                    place = f"{name}, window {window:,} at {threshold:.0%}"
                    tally.problems += [f"{place}: {problem}" for problem in grow(messages, limit, tally, store)]
            out(f"window {window:>7,} at {threshold:.0%}: {_told(tally)}")
            for problem in tally.problems[:20]:
                out(f"  {problem}")
            total.fits += tally.fits
            total.problems += tally.problems
    verdict = (
        f"{total.fits.total():,} compressions where head and last request fit, {total.gave_up:.1%} of them gave up"
    )
    out(f"{verdict}; {len(total.problems)} problems.")
    return int(bool(total.problems) or total.gave_up > GAVE_UP_AT_MOST)


def _told(tally: Tally) -> str:
    """The outcomes of a tally on one line."""
    told = [f"{count:,} {what}" for what, count in tally.fits.most_common()]
    told += [f"{count:,} {what} (head and last request do not fit)" for what, count in tally.too_big.most_common()]
    return "; ".join(told) or "nothing reached the limit"


def grow(transcript: list[Message], limit: int, tally: Tally, store: SessionStore) -> Iterator[str]:
    """What goes wrong while a transcript grows to its end, compressed before each request that reaches `limit`."""
    live: list[Message] = []
    session, size, stored = store.create(), 0, 0
    for place, message in enumerate(transcript):
        live.append(message)
        size += estimate_message_tokens(message)
        asked = place + 1 == len(transcript) or transcript[place + 1].get("role") == "assistant"
        if size < limit or not asked:
            continue
        store.append(session, transcript[stored : place + 1])
        stored = place + 1
        done = compressed(live, limit)
        yield from (f"message {place}: promise {problem}" for problem in broken_promises(done))
        outcomes = tally.fits if fits(live, limit) else tally.too_big
        outcomes[outcome(done)] += 1
        live, size = list(done.after), done.report.after
        session = store.create(session, live)
    store.append(session, transcript[stored:])
    if store.load(session) != live:
        yield "the store does not give back the current list"
    if store.history(session) != transcript:
        yield "the store does not give back the full history"


def compressed(messages: list[Message], limit: int) -> Compression:
    """One compression of a list that reached the limit."""
    try:
        result, report = compress_or_raise(messages, summarize, limit=limit, tail_token_budget=limit // TAIL_SHARE)
        return Compression(messages, result, report, limit)
    except CompressionStuckError as stuck:
        if stuck.messages is None or stuck.report is None:
            raise
        return Compression(messages, stuck.messages, stuck.report, limit, stuck=True)


def outcome(done: Compression) -> str:
    """The outcome in words; a list that pruning or clipping got below the limit is compressed."""
    if done.stuck:
        return "stuck"
    if done.report.after < (done.limit or 0):
        return COMPRESSED
    if done.report.outcome == COMPRESSED:
        return "compressed, but still over the limit"
    return f"{done.report.outcome}: {done.report.reason}"


def fits(messages: list[Message], limit: int) -> bool:
    """Whether what must stay word for word, the system prompt and the anchors, is within the limit."""
    system: list[Any] = [message for message in messages[:1] if message.get("role") in SYSTEM_ROLES]
    anchors = [messages[place] for place in find_anchors(messages)]
    return estimate_tokens([*system, *anchors]) <= limit
