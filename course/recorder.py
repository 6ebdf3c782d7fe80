"""The recorder: hears of an agent's events, reads the provider's log, and makes the timeline of both."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from course.parts import window_parts
from course.provider import Exchange, Provider
from course.timeline import Event, Timeline
from reference.ch05_budget import estimate_tokens
from reference.ch10_compress import CompressionReport
from reference.messages import Message, text_length

View = Callable[[Timeline, Event], None]


class Recorder:
    """Turns what happens in a run into events of a timeline, and shows each to the view when it is in there.

    `agent` has to be set before the run begins. `provider` is None for a real endpoint, which shows no log.
    """

    def __init__(self, view: View | None = None, provider: Provider | None = None) -> None:
        self.timeline = Timeline()
        self.agent: Any = None
        self.call = 0
        self._view, self._provider = view, provider
        self._seen = 0  # exchanges of the provider's log that are in the timeline
        self._ids: dict[str, str] = {}
        self._sessions: dict[str, str] = {}

    def __call__(self, kind: str, **data: Any) -> None:
        """Hear of one event of the agent; kinds without a method here are passed over."""
        self.read_log()
        handler = getattr(self, f"_on_{kind}", None)
        if handler is not None:
            handler(**data)

    def add(self, kind: str, **data: Any) -> None:
        """Append an event and show it."""
        event = self.timeline.add(kind, **data)
        if self._view is not None:
            self._view(self.timeline, event)

    def id_of(self, message: Message) -> str:
        """The id of a message in the timeline; equal messages have one id."""
        key = json.dumps(message, sort_keys=True, default=repr)
        if key not in self._ids:
            self._ids[key] = f"m{len(self._ids) + 1}"
            self.timeline.messages[self._ids[key]] = json.loads(key)
        return self._ids[key]

    def ids_of(self, messages: list[Message]) -> list[str]:
        """The ids of messages, in order."""
        return [self.id_of(message) for message in messages]

    def read_log(self) -> None:
        """Take in what the provider answered since: calls of the summariser, and refusals."""
        log = self._provider.log if self._provider else []
        for exchange in log[self._seen :]:
            self._seen += 1
            if exchange.status != 200:
                self._refused(exchange)
            elif exchange.model != self.agent.model:
                tokens = {"prompt_tokens": exchange.prompt_tokens, "completion_tokens": exchange.completion_tokens}
                self.add("summary", status=exchange.status, **tokens)

    def _refused(self, exchange: Exchange) -> None:
        """A refusal, with the message that is at fault where the provider names one."""
        error = exchange.error or {}
        place = re.search(r"messages\.\[(\d+)\]", str(error.get("param")))
        sent = (exchange.body or {}).get("messages") or []
        at_fault = sent[int(place[1])] if place and int(place[1]) < len(sent) else None
        self.add(
            "refused",
            status=exchange.status,
            code=error.get("code"),
            text=error.get("message"),
            position=int(place[1]) if place else None,
            message=self.id_of(at_fault) if at_fault else None,
            messages=self.ids_of(sent),
        )

    def _on_session(self, session_id: str, parent: str | None) -> None:
        for known in (parent, session_id):
            if known is not None:
                self._sessions.setdefault(known, f"session-{len(self._sessions) + 1}")
        self.add("session", session=self._sessions[session_id], parent=self._sessions[parent] if parent else None)

    def _on_user(self, message: Message) -> None:
        self.add("user", message=self.id_of(message))

    def _on_request(self, messages: list[Message]) -> None:
        self.call += 1
        kept = self.agent.messages
        live = max(0, estimate_tokens(messages[:1]) - estimate_tokens(kept[:1]))
        parts = window_parts(kept, live, estimate_tokens([], self.agent.tools))
        self.add("request", call=self.call, messages=self.ids_of(kept), parts=parts)

    def _on_response(self, message: Message, usage: Any) -> None:
        details = usage.prompt_tokens_details if usage else None
        tools = [call["function"]["name"] for call in message.get("tool_calls") or ()]
        self.add(
            "response",
            call=self.call,
            message=self.id_of(message),
            prompt_tokens=usage.prompt_tokens if usage else 0,
            cached_tokens=(details.cached_tokens if details else 0) or 0,
            completion_tokens=usage.completion_tokens if usage else 0,
            tools=tools,
        )

    def _on_tool_start(self, tool: str, arguments: dict[str, Any]) -> None:
        self.add("tool_start", tool=tool, arguments=arguments)

    def _on_tool_end(self, message: Message) -> None:
        self.add("tool_end", message=self.id_of(message), characters=text_length(message["content"]))

    def _on_compression(self, report: CompressionReport, before: int, after: int) -> None:
        details = asdict(report)
        self.add(
            "compression",
            outcome=report.outcome,
            reason=report.reason,
            before=before,
            after=after,
            pruned=details["before"] - details["after_pruning"],
            summary=details["after_pruning"] - details["after"] if report.outcome == "compressed" else 0,
            summarised=report.summarised,
            clipped=report.clipped,
            repairs=report.repairs,
            summary_failed=report.summary_failed,
            messages=self.ids_of(self.agent.messages),
        )

    def _on_task_state(self, state: Any) -> None:
        self.add("task_state", goal=state.goal, todos=[dict(todo) for todo in state.todos])

    def _on_frequent(self, count: int) -> None:
        self.add("frequent", count=count)

    def _on_stuck(self, error: Any) -> None:
        self.add("stuck", before=error.before, after=error.after, text=str(error))
