"""A strict provider to talk to, for notebooks: one with scripted models, and what it says to a list of messages.

chat_with("Hello.")              a provider whose model `m` says just that
send(messages)                   what a strict provider answers to these messages, as one line
exchanges(first, second)         what it counts for requests that follow each other
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import openai

from course.provider import Exchange, Model, Provider
from reference.ch01_agent_loop import to_wire
from reference.messages import Message


def provider(**settings: Any) -> Provider:
    """A strict provider for a `with` block, with the models sim-8k, sim-32k, sim-128k and sim-summarizer."""
    return Provider(**settings)


def chat_with(*replies: Message | str, window: int = 8_192, **settings: Any) -> Provider:
    """A strict provider, for a `with` block, whose model `m` gives the replies in their order, the last one for ever.

    A reply is a text or an assistant message; `call_tool` makes one that calls tools.
    """
    messages = [{"role": "assistant", "content": one} if isinstance(one, str) else one for one in replies]
    left = itertools.chain(messages[:-1], itertools.repeat(messages[-1]))
    return Provider([Model("m", window, lambda body: next(left))], **settings)


def send(messages: Sequence[Message], *, tools: Sequence[Message] = (), raw: bool = False, **settings: Any) -> str:
    """What a strict provider answers to these messages: "200: ..." or "400 rule: the provider's own words".

    Internal keys are stripped as in chapter 1, unless `raw`. `settings` are those of `chat_with`: window, faults, ...
    """
    body: dict[str, Any] = {"messages": list(messages) if raw else to_wire(messages)} | (
        {"tools": tools} if tools else {}
    )
    with chat_with("Taken.", **settings) as strict, strict.client() as client:
        try:
            reply = client.chat.completions.create(model="m", **body)
        except openai.APIStatusError as error:
            return refusal_text(error)
        except openai.APIConnectionError:
            return "no answer: the connection was lost"
        except UnicodeError as error:
            return f"not sent: {error}"
    return f"200: taken, {reply.usage.prompt_tokens:,} prompt tokens"


def refusal_text(error: openai.APIStatusError) -> str:
    """A refusal as one line: status, code, and the provider's own words."""
    body: Any = error.body if isinstance(error.body, dict) else {}
    return f"{error.status_code} {body.get('code') or ''}: {body.get('message') or error.message}"


def exchanges(
    *requests: Sequence[Message], tools: Sequence[Message] = (), window: int = 1_000_000, **settings: Any
) -> list[Exchange]:
    """The log of a strict provider that got these lists of messages one after the other, refusals included.

    Each exchange has `status`, `prompt_tokens`, `cached_tokens` and `error`. `settings` are those of `Provider`.
    """
    reply = {"role": "assistant", "content": "I see."}
    with Provider([Model("m", window, lambda body: reply)], **settings) as provider, provider.client() as client:
        for messages in requests:
            body: Any = {"messages": to_wire(messages)} | ({"tools": list(tools)} if tools else {})
            with suppress(openai.APIStatusError):  # it stands in the log, in the provider's own words
                client.chat.completions.create(model="m", **body)
    return list(provider.log)
