"""Chapter 5 · The budget: what fills the window, and when to act.

The context window is the number of tokens that one request may hold. Everything that is sent counts: the system prompt,
every message, the arguments of every tool call, the schemas of the tools. Two numbers tell how full it is. The provider
reports the exact one, but only after the request; an estimate is there before it.

    estimate     one token for four characters: free, rough, off by half for JSON or Chinese
    reported     `usage.prompt_tokens` of the last response: exact, void as soon as the list has changed
    the trigger  prompt tokens >= 50 % of the window: early enough that the request which follows still fits
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from typing import Any

from reference.messages import Message, as_text, clean_call, picture_count, text_length, text_of

CHARS_PER_TOKEN = 4
MESSAGE_TOKENS = 4  # role and separators, which every message costs
PICTURE_TOKENS = 1_000  # between the few hundred and the few thousand that providers charge, whatever its file size
LONG_TEXT = 4_096  # characters; in a shorter text unbroken runs are not looked for

_BLOCK = 256
_UNBROKEN = re.compile(r"[\w+/=-]+")


def estimate_message_tokens(message: Message) -> int:
    """Tokens that one message costs, by a rule of thumb: text and tool calls at four characters a token.

    A picture counts 1,000 and each message 4 on top. Keys that are not sent do not count. Never raises.

    Example: {"role": "user", "content": "x" * 400} costs 104.
    """
    raise NotImplementedError("exercise 5.1: Count the content, the name and arguments of every tool call, pictures, and the message itself.")


def calls_length(calls: list[Any]) -> int:
    """Characters of the tool calls' ids, names and arguments, however badly formed they are."""
    characters = 0
    for call in calls:
        try:
            function = call["function"]
            arguments = function["arguments"]
            characters += len(call["id"]) + len(function["name"]) + len(arguments)
            if len(arguments) > LONG_TEXT:
                characters += unbroken_surcharge(arguments)
        except (TypeError, KeyError):
            mendable = isinstance(call, dict) and isinstance(call.get("id"), str)
            characters += calls_length([clean_call(call)]) if mendable else len(as_text(call))
    return characters


def unbroken_surcharge(text: str) -> int:
    """Characters to add to a long text's length for what base64 in it really costs: about one token a character.

    A tokenizer knows words; letters and digits without a break it has to spell. Looked at are blocks of 256 characters,
    so a run of 512 is never missed. One letter over and over (a ruler, padding) is cheap and is left out.
    """
    starts = [at for at in range(0, len(text) - _BLOCK + 1, _BLOCK) if text.find(" ", at, at + _BLOCK) < 0]
    blocks = (text[at : at + _BLOCK] for at in starts)
    unbroken = sum(bool(_UNBROKEN.fullmatch(block)) and len(set(block)) > 6 for block in blocks)
    return unbroken * _BLOCK * (CHARS_PER_TOKEN - 1)


def estimate_tokens(messages: Iterable[Message], tools: Iterable[Message] = ()) -> int:
    """Tokens of a whole request by the same rule: the sum over its messages, and its tool schemas as JSON.

    The characters of all schemas are added up before they are divided.

    Example: three messages of 104 tokens are 312; a tool whose schema is 400 characters of JSON makes them 412.
    """
    raise NotImplementedError("exercise 5.2: Add up the messages and the tool schemas: whatever is sent is counted.")


def threshold_tokens(context_length: int, threshold: float = 0.50) -> int:
    """The smallest number of prompt tokens that reaches `threshold`, a share of the window of `context_length` tokens.

    Rounding to six places first keeps 0.07 × 100 at 7, not at 8: in binary it is 7.000000000000001.
    """
    return math.ceil(round(threshold * context_length, 6))


def should_compress(prompt_tokens: int, context_length: int, threshold: float = 0.50) -> bool:
    """Whether a request of `prompt_tokens` has reached `threshold` × `context_length`.

    Only prompt tokens count: the reply of the last call is part of the next prompt, and is counted there.

    Example: should_compress(100_000, 200_000) is True, should_compress(99_999, 200_000) is False.
    """
    raise NotImplementedError("exercise 5.3: Compare with the threshold; reaching it is enough.")


class TokenMeter:
    """Turns estimates into the provider's tokens, by the ratio of the two at the last report.

    The reported number itself is void once the list has changed; the ratio, which says what kind of text this
    conversation holds, is not. Before the first report it is 1.
    """

    def __init__(self) -> None:
        self.ratio = 1.0

    def report(self, prompt_tokens: int, estimate: int) -> None:
        """Take in what the provider reported for a request whose estimate was `estimate`: `ratio` is set anew.

        Only the last report counts, since what the window holds changes. A report of no tokens, or for an estimate
        of none, says nothing and changes nothing.

        Example: 300 tokens reported where 200 were estimated make the ratio 1.5; `tokens(100)` is then 150.
        """
        raise NotImplementedError("exercise 5.4: Set the ratio of what was reported to what was estimated, where both say something.")

    def tokens(self, estimate: int) -> int:
        """Prompt tokens that the provider is likely to count where we estimate `estimate`."""
        return math.ceil(estimate * self.ratio)

    def estimate(self, tokens: int) -> int:
        """The estimate that stands for so many of the provider's tokens; the inverse of `tokens`, rounded down."""
        return int(tokens / self.ratio)
