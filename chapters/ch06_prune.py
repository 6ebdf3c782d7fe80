"""Chapter 6 · Layer 1: clear old tool results.

A tool result is read once, when it arrives. Three calls later the model has drawn its conclusion, yet the raw text
is still in the window and is paid for again with every request. Layer 1 replaces the content of old results by one
line. It calls no model and removes no message, so every call keeps its result and the request stays valid.

    user   call a   result a (4,000)      call b   result b (3,000)   call c   result c (9,000)
    user   call a   [cleared: 4,000]      call b   result b (3,000)   call c   result c (9,000)      keep_recent=2
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from reference.messages import Message, picture_count, text_length

PLACEHOLDER_START = "[Old tool output cleared to save context space"
PLACEHOLDER = PLACEHOLDER_START + ": {tool}, {size}]"
MAX_TOOL_NAME = 60
MAX_PLACEHOLDER = 200


def placeholder_for(tool: str, content: Any) -> str:
    """The line that stands where `content`, a result of `tool`, was: it says what is gone and how much."""
    size = f"{text_length(content):,} characters"
    if pictures := picture_count(content):
        size += f", {pictures} picture{'s' * (pictures > 1)}"
    return PLACEHOLDER.format(tool=tool[:MAX_TOOL_NAME], size=size)


def prune_old_tool_results(
    messages: Sequence[Message], keep_recent: int = 3, min_chars: int = 200, never_prune: Collection[str] = ()
) -> list[Message]:
    """`messages` with the content of every tool result but the newest `keep_recent` replaced by a placeholder.

    Results of up to `min_chars` characters stay (unless they hold a picture), and so does a result that a placeholder
    would not shorten. So do those of the tools in `never_prune`: what a user answered cannot be read again.
    The input is not changed; messages that stay are the same objects. Pruning twice is pruning once.

    Example: a `read_file` result of 500 characters, with keep_recent=0, becomes
    "[Old tool output cleared to save context space: read_file, 500 characters]".
    """
    raise NotImplementedError("exercise 6.1: Clear every tool result but the newest `keep_recent`; leave short ones alone.")


def tool_names(message: Message) -> dict[Any, str]:
    """The tool's name for each call id in a message; read in order, the latest use of an id wins, since ids repeat."""
    calls = message.get("tool_calls")
    names = {}
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            names[str(call.get("id"))] = str(function.get("name") or "tool")
    return names


def _is_placeholder(content: Any) -> bool:
    """Whether the content was cleared before; a long result that merely quotes a placeholder was not."""
    return isinstance(content, str) and content.startswith(PLACEHOLDER_START) and len(content) < MAX_PLACEHOLDER
