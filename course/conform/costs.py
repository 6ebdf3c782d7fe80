"""Cases about cache and cost: what a strict provider counts for a session, beside what the timeline says of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, cast

import reference.ch09_summary as ch09
from course.conform.cases import Case
from course.conform.fake import DEFAULT_REPLY
from course.frame import frame_at
from course.provider import Exchange, Model, Provider
from course.recorder import Recorder
from course.samples import call_tool
from course.timeline import Timeline
from reference.ch01_agent_loop import to_wire
from reference.ch02_tools import Tool, ToolRegistry
from reference.ch05_budget import estimate_tokens
from reference.ch11_stuck import StuckAwareAgent
from reference.messages import Message

Findings = Iterator[tuple[str, bool]]
Summarize = Callable[[list[Message], str | None], str]

WINDOW = 8_192
SYSTEM: Message = {"role": "system", "content": "You are a careful coding agent. " + "Keep to the rules. " * 40}


class Session:
    """An agent that speaks to a strict provider, with a recorder that hears of everything; one turn is one `ask`."""

    def __init__(
        self, provider: Provider, client: Any, summarize: Summarize | None = None, *, size: int = 1_500
    ) -> None:
        def by_model(turns: list[Message], previous: str | None) -> str:
            return ch09.summarize_middle(turns, client, "summarizer", previous, 400)

        registry = ToolRegistry([Tool("read_file", "", {"type": "object"}, lambda path: "some words " * (size // 11))])
        self.recorder = Recorder(None, provider)
        self.agent = StuckAwareAgent(
            client, "agent", registry, context_length=WINDOW, summarize=summarize or by_model, on_event=self.recorder
        )
        self.recorder.agent = self.agent
        self.messages: list[Message] = [SYSTEM]

    @property
    def timeline(self) -> Timeline:
        """What was recorded so far, the provider's log included."""
        self.recorder.read_log()
        return self.recorder.timeline

    def ask(self, request: str) -> str:
        """Why the turn with this request ended."""
        outcome = self.agent.run([*self.messages, {"role": "user", "content": request}])
        self.messages = outcome["messages"]
        return outcome["stop_reason"]


def reading(calls: int) -> Callable[[Any], Message]:
    """A model that reads so many files after each request of the user, one a call, and then answers."""

    def reply(body: Any) -> Message:
        messages = body["messages"]
        behind = next(place for place, message in enumerate(reversed(messages)) if message["role"] == "user")
        done = sum(message["role"] == "tool" for message in messages[len(messages) - behind :])
        if done >= calls:
            return {"role": "assistant", "content": "read"}
        return call_tool("read_file", {"path": f"{len(messages)}.md"}, start=len(messages))

    return reply


def provider_with(calls: int) -> Provider:
    """A strict provider with an agent's model and one that writes summaries."""
    summary: Message = {"role": "assistant", "content": DEFAULT_REPLY}
    return Provider([Model("agent", WINDOW, reading(calls)), Model("summarizer", 65_536, lambda body: summary)])


def every_call_is_recorded(case: Case) -> Findings:
    """B131: prompt, cached and compressions of each call are in the timeline; summaries that gain nothing end it."""

    def no_gain(turns: list[Message], previous: str | None) -> str:
        return (previous or "## Goal\n") + "word" * int(0.95 * estimate_tokens(turns))

    with provider_with(3) as provider, provider.client() as client:
        healthy = Session(provider, client, size=4_000)
        ends = [healthy.ask(f"request {number}") for number in range(4)]
        events = healthy.timeline.events
        calls = [event.data for event in events if event.kind == "response"]
        told = [(call["prompt_tokens"], call["cached_tokens"]) for call in calls]
        counted = [(one.prompt_tokens, one.cached_tokens) for one in provider.log if one.model == "agent"]
        kinds = [event.kind for event in events if event.kind in ("request", "compression")]
    with provider_with(80) as provider, provider.client() as client:
        idle = Session(provider, client, no_gain, size=190)
        end = idle.ask("read them all")
        paid = sum(event.kind == "compression" and event.data["summarised"] > 0 for event in idle.timeline.events)
    recorded = told == counted and any(cached for _, cached in told) and "compression" in kinds
    yield case.expected[0], set(ends) == {"answer"} and recorded
    yield case.expected[1], end == "stuck" and paid <= 3


def summary_shares_no_prefix(case: Case) -> Findings:
    """B132: the summary has a prompt of its own, chapter 9 says why, and what it says of the cache is true here."""
    with provider_with(3) as provider, provider.client() as client:
        session = Session(provider, client)
        session.ask("request")
        messages, tools = session.messages, cast(Any, session.agent.tools)
        ch09.summarize_middle(messages[1:], client, "summarizer", None, 400)
        asked: Any = [*to_wire(messages), {"role": "user", "content": "Summarise the conversation so far."}]
        client.chat.completions.create(model="agent", messages=asked, tools=tools)
        own, same = provider.log[-2:]
    text = " ".join(str(ch09.__doc__).split())
    documented = "a prompt of its own" in text and "the same prefix" in text
    yield case.expected[0], documented and own.cached_tokens == 0 and same.cached_tokens > 0.8 * same.prompt_tokens


def costs_only_grow(case: Case) -> Findings:
    """B134: three turns, a compression with a summary call, one more turn: the cost grows, the context falls."""
    with provider_with(2) as provider, provider.client() as client:
        session = Session(provider, client)
        for number in range(3):
            session.ask(f"request {number}")
        full = context_of(session.timeline)
        session.agent.compress_now()
        session.messages = session.agent.messages
        session.ask("request 3")
        timeline, log = session.timeline, list(provider.log)
    costs = [cost_of(timeline, number) for number in range(1, len(timeline.events) + 1)]
    summaries = [one for one in log if one.model == "summarizer"]
    grows = all(before <= after for before, after in pairwise(costs))
    yield case.expected[0], grows and costs[-1] == paid_for(log) > paid_for(log) - paid_for(summaries) > 0
    yield case.expected[1], context_of(timeline) < full


def cost_of(timeline: Timeline, number: int) -> int:
    """Tokens paid for up to an event, as the counters of the timeline say."""
    counters = frame_at(timeline, number).counters
    return counters.prompt_tokens + counters.summary_tokens


def paid_for(log: Sequence[Exchange]) -> int:
    """Prompt tokens of these requests, as the provider counted them."""
    return sum(one.prompt_tokens for one in log)


def context_of(timeline: Timeline) -> int:
    """Prompt tokens of the last request: how full the context is, whatever was paid before."""
    return frame_at(timeline, len(timeline.events)).prompt_tokens
