"""Chapter 7 · Layer 2: head, middle, tail, and two anchors.

Not every message is worth the same. The head says what the work is, the tail is the work in progress; what lies between
has been used. Layer 2 is arithmetic: it finds the two cuts. The tail is a budget of tokens, not a number of messages:
twenty short messages are nothing, two long ones fill the window.

    0        head_end                                     tail_start            len
    | system  user  |  call result call result ... user ... call  |  call result  |
      head             middle: to be summarised                      tail: kept

Two messages must survive wherever they stand, word for word: the last request of the user and the last reply that the
user saw. They are the anchors. Lines that the agent generated itself (summaries, bridges, stubs) are never a request.
"""

from __future__ import annotations

from collections.abc import Sequence

from reference.ch05_budget import estimate_message_tokens
from reference.messages import EMPTY_REPLY, GENERATED, Message, has_text

# Messages that the agent wrote itself bear the key GENERATED; over the wire go only these texts.
SUMMARY_PREFIX = "[CONTEXT COMPACTION: system-generated summary of earlier turns, not a new instruction]"
SUMMARY_END = "[END OF CONTEXT COMPACTION]"
BRIDGE_USER = "[generated] Go on."
BRIDGE_ASSISTANT = "[generated] No reply was recorded."


def is_summary(message: Message) -> bool:
    """Whether a message is a compression's summary: marked so, or an assistant text from prefix to end mark.

    The text form counts because the mark is lost where a history went over the wire. A user or a tool that merely
    quotes the text makes no summary.
    """
    if GENERATED in message:
        return message[GENERATED] == "summary"
    content = message.get("content")
    return (
        message.get("role") == "assistant"
        and isinstance(content, str)
        and content.startswith(SUMMARY_PREFIX)
        and content.rstrip().endswith(SUMMARY_END)
        and not message.get("tool_calls")
    )


def is_bridge(message: Message) -> bool:
    """Whether a message is a line that stands between two messages of one role (chapter 10)."""
    if GENERATED in message:
        return message[GENERATED] == "bridge"
    role, content = message.get("role"), message.get("content")
    if role == "assistant" and not message.get("tool_calls"):
        return content == BRIDGE_ASSISTANT
    return role == "user" and content == BRIDGE_USER


def is_generated(message: Message) -> bool:
    """Whether the agent wrote this message itself: a summary, a bridge, or a text that stands for an empty reply.

    An assistant message that says nothing counts too: a text will stand for it (chapter 8).
    """
    if GENERATED in message:
        return True
    content = message.get("content")
    if isinstance(content, str) and content[:1].isalnum():
        return False  # none of the texts below begins with a letter: nearly every message ends here
    role = message.get("role")
    if role != "assistant" or message.get("tool_calls"):
        return role == "user" and content == BRIDGE_USER
    return content in (EMPTY_REPLY, BRIDGE_ASSISTANT) or not has_text(message) or is_summary(message)


def find_lines(messages: Sequence[Message]) -> list[int]:
    """The positions of the messages that only say something: no calls, no results. They are few in a long history."""
    return [
        index
        for index, message in enumerate(messages)
        if message["role"] != "tool"
        and ("tool_calls" not in message or message["role"] != "assistant" or not message["tool_calls"])
    ]


def is_request(message: Message) -> bool:
    """Whether a message is a real request: written by the user, not generated."""
    return message.get("role") == "user" and not is_generated(message)


def is_visible_reply(message: Message) -> bool:
    """Whether a message is a reply that the user saw: an assistant's text without tool calls, not generated."""
    return (
        message.get("role") == "assistant"
        and not message.get("tool_calls")
        and has_text(message)
        and not is_generated(message)
    )


def find_boundaries(
    messages: Sequence[Message],
    protect_first: int = 3,
    tail_token_budget: int = 20_000,
) -> tuple[int, int]:
    """(head_end, tail_start): messages[:head_end] is the head, messages[tail_start:] the tail, the middle between them.

    The head is the first `protect_first` messages, the system prompt included. The tail is as many messages from the
    end as fit in `tail_token_budget` (tokens, estimated), at least the last one, however big it is. Always
    0 <= head_end <= tail_start <= len(messages). The cuts may fall inside a tool group: chapter 8 moves them.

    Example: ten messages of 104 tokens, protect_first=3, tail_token_budget=250 give (3, 8).
    """
    raise NotImplementedError("exercise 7.1: Walk back from the end until the budget is spent; keep at least the last message.")


def find_anchors(messages: Sequence[Message]) -> list[int]:
    """The positions of the last real request and of the last visible reply, in order; as many as there are.

    `is_request` and `is_visible_reply` tell what counts.

    Example: for system, user, assistant text, user, call, result the anchors are [2, 3].
    """
    raise NotImplementedError("exercise 7.2: Search from the end for the last request and the last visible reply.")
