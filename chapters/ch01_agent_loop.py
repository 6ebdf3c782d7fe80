"""Chapter 1 · The agent loop.

A model answers one request and forgets it. An agent is the loop around it: send the whole conversation, append the
reply, run the tools that the reply asks for, append their results, and send everything again, until a reply asks
for no tool.

    system  user                                      request 1  ->  assistant: call read_file(a.md)
    system  user  assistant  tool                     request 2  ->  assistant: call read_file(b.md)
    system  user  assistant  tool  assistant  tool    request 3  ->  assistant: "Both files say ..."

Every request repeats all that came before it. That is why the context window fills up, and what this course is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from reference.messages import EMPTY_REPLY, Message, clean_arguments, clean_text, has_text, parse_arguments

Execute = Callable[[str, dict[str, Any]], str]

MAX_ITERATIONS = 90

# What a chat-completions provider knows of each role's messages. Every other key (reasoning, marks) is the agent's own.
WIRE_KEYS = {
    "system": frozenset({"role", "content", "name"}),
    "user": frozenset({"role", "content", "name"}),
    "assistant": frozenset({"role", "content", "name", "tool_calls", "refusal"}),
    "tool": frozenset({"role", "content", "name", "tool_call_id"}),
}
WIRE_KEYS["developer"] = WIRE_KEYS["system"]


def to_wire(messages: Iterable[Message]) -> list[Message]:
    """`messages` as they are sent: the same dicts without the keys that a provider does not know.

    A strict provider refuses an unknown key. Keys whose value is None go too, except `content`. The input is not
    changed; a message with nothing to strip is the same object. A role that is not in WIRE_KEYS has a user's keys.

    Example: {"role": "assistant", "content": "Hi", "reasoning": "greet"} comes back without "reasoning".
    """
    raise NotImplementedError("exercise 1.1: Return the messages with only the keys in WIRE_KEYS for their role; do not change the input.")


def assistant_message(reply: Any) -> Message:
    """The history's message for a model's `reply`, an object of the `openai` client or a dict of the same form.

    Text and calls are both kept. Text is cleaned, arguments are a JSON object, and a reply with neither text nor calls
    gets the text EMPTY_REPLY, since a provider refuses an assistant message that says nothing. Without calls there is
    no key `tool_calls`. `clean_text` and `clean_arguments` of `reference.messages` do the cleaning.

    Example: {"content": "Hello", "tool_calls": None} becomes {"role": "assistant", "content": "Hello"}.
    """
    raise NotImplementedError("exercise 1.2: Build the assistant message from the reply's content and tool calls.")


def tool_message(call: Message, result: str) -> Message:
    """The message that answers `call`, an entry of `tool_calls`, with the text of its result."""
    return {"role": "tool", "tool_call_id": call["id"], "content": clean_text(result)}


class Agent:
    """The loop: query the model, act on its tool calls, until it answers or `max_iterations` requests were made.

    Later chapters override one method each. `on_event(kind, **data)` hears of every step; `execute(name, arguments)`
    runs a tool and returns its result as text.
    """

    def __init__(
        self,
        client: Any,
        model: str,
        *,
        tools: Sequence[Message] = (),
        execute: Execute | None = None,
        max_iterations: int = MAX_ITERATIONS,
        on_event: Callable[..., None] | None = None,
    ) -> None:
        self.client, self.model = client, model
        self.tools, self.execute = list(tools), execute
        self.max_iterations = max_iterations
        self.on_event = on_event or (lambda kind, **data: None)
        self.messages: list[Message] = []
        self.iterations = 0
        self.usage: Any = None  # what the provider reported for the last request

    def run(self, messages: Iterable[Message]) -> dict[str, Any]:
        """What `run_conversation` returns, for a conversation that begins with `messages`; the input is not changed.

        `self.messages` is the history and `self.iterations` the number of requests; both begin anew. `self.query()` is
        the next reply, `self.act(calls)` the results of its calls, `self.remember(messages)` appends messages, and
        `self.outcome(final_response, stop_reason)` is what is returned: the reply's text with "answer", or "" with
        "max_iterations" once `self.max_iterations` requests were made.

        Example: a reply with one call, then the reply "Done.": the history is user, assistant, tool, assistant, after
        2 iterations.
        """
        raise NotImplementedError("exercise 1.3: Loop: query, append, act on the calls, append; stop at an answer or at max_iterations.")

    def query(self) -> Message:
        """The model's reply to the conversation as it stands, as a message for the history."""
        request: dict[str, Any] = {"model": self.model, "messages": to_wire(self.outgoing())}
        if self.tools:
            request["tools"] = self.tools
        self.on_event("request", messages=request["messages"])
        response = self.client.chat.completions.create(**request)
        self.received(response)
        self.usage = response.usage
        return assistant_message(response.choices[0].message)

    def remember(self, messages: Sequence[Message]) -> None:
        """Append new messages to the history; who listens hears of a message when it is in there, not before."""
        self.messages.extend(messages)
        for message in messages:
            kind = {"tool": "tool_end", "assistant": "response"}.get(message["role"], message["role"])
            self.on_event(kind, message=message, **({"usage": self.usage} if kind == "response" else {}))

    def outgoing(self) -> list[Message]:
        """The messages of the next request."""
        return self.messages

    def received(self, response: Any) -> None:
        """Called with each response, for what it says beside its message: chapter 10 reads the reported tokens."""

    def act(self, calls: Sequence[Message]) -> list[Message]:
        """One tool message for each call, in the order of the calls."""
        return [tool_message(call, self.run_call(call)) for call in calls]

    def run_call(self, call: Message) -> str:
        """The text of one call's result; chapter 2 turns what goes wrong in a tool into such a text too."""
        name, arguments = call["function"]["name"], parse_arguments(call["function"]["arguments"]) or {}
        if self.execute is None:
            return f"error: the tool {name!r} is not available"
        self.on_event("tool_start", tool=name, arguments=arguments)
        return self.execute(name, arguments)

    def outcome(self, final_response: str, stop_reason: str) -> dict[str, Any]:
        """The dict that a run returns; `messages` is a list of its own."""
        return {
            "final_response": final_response,
            "messages": list(self.messages),
            "iterations": self.iterations,
            "stop_reason": stop_reason,
        }


def run_conversation(
    client: Any,
    model: str,
    messages: Iterable[Message],
    tools: Sequence[Message] = (),
    execute: Execute | None = None,
    max_iterations: int = MAX_ITERATIONS,
) -> dict[str, Any]:
    """The finished conversation: `final_response`, `messages`, `iterations` (requests made) and `stop_reason`.

    `stop_reason` is "answer" (a reply without tool calls) or "max_iterations". `client` is an `openai.OpenAI` or
    anything with `chat.completions.create`; what it raises is passed on. The input list is not changed.
    """
    return Agent(client, model, tools=tools, execute=execute, max_iterations=max_iterations).run(messages)
