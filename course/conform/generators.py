"""Cases that need more than a list: a store, tools, a loop. One function for each, id -> (statement, holds) pairs."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from course.conform.cases import Case
from course.conform.fake import FakeSummarizer
from reference.ch01_agent_loop import to_wire
from reference.ch02_tools import Tool, ToolAgent, ToolRegistry, run_tool_calls
from reference.ch03_sessions import SessionStore
from reference.ch05_budget import estimate_tokens
from reference.ch07_boundaries import is_summary
from reference.ch08_alignment import sanitize_tool_pairs, validate_messages
from reference.ch09_summary import summarize_middle, summary_budget
from reference.ch10_compress import compress
from reference.ch11_stuck import StuckAwareAgent
from reference.messages import Message, text_of

Findings = Iterator[tuple[str, bool]]

SYSTEM: Message = {"role": "system", "content": "You are a careful coding agent."}
SKIPPED = {
    "B038": "interrupting a running batch of tools is no subject of chapters 1 to 12",
    "B047": "how often a session compresses is told by events; no chapter stops a session for it",
    "B131": "the record of calls belongs to the timeline, not to compress",
    "B132": "a matter of documentation: the summary has a prompt of its own, on purpose (chapter 9)",
    "B134": "costs are counted by the timeline, not by compress",
}


def group(number: int, content: str, tool: str = "read_file") -> list[Message]:
    """A call and its result."""
    function = {"name": tool, "arguments": f'{{"path": "{number}.md"}}'}
    call = {"id": f"c{number}", "type": "function", "function": function}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": content},
    ]


def session(groups: int, content: str = "data " * 300) -> list[Message]:
    """A system prompt, a request, and so many groups."""
    messages = [SYSTEM, {"role": "user", "content": "go"}]
    return messages + [message for number in range(groups) for message in group(number, f"file {number}: {content}")]


def summarize(turns: list[Message], previous_summary: str | None) -> str:
    """A summary that says how much it stands for."""
    return f"## Goal\nas the user asked\n## Progress\n{len(turns)} turns"


def tool_of(name: str, behaviour: str) -> Tool:
    """A tool that does what the words of a case say: it raises, times out, or returns its last word."""

    def run(**_: Any) -> str:
        if "raises" in behaviour:
            raise ValueError(behaviour)
        if "times out" in behaviour:
            raise TimeoutError(behaviour)
        return behaviour.removeprefix("returns ")

    return Tool(name, "", {"type": "object"}, run)


def run_tools(case: Case, **hooks: Any) -> list[Message]:
    """The messages of a turn that calls the tools of a case, one call each, by the agent of chapter 2."""
    tools: dict[str, str] = case.settings["tools"]
    names = case.settings.get("calls") or list(tools)
    calls = [
        {"id": f"t{place}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for place, name in enumerate(names)
    ]
    registry = ToolRegistry(tool_of(name, words) for name, words in tools.items())
    agent = ToolAgent(None, "none", registry, **hooks)
    asked: Message = {"role": "assistant", "content": None, "tool_calls": calls}
    return [*(case.messages or []), asked, *run_tool_calls(calls, agent.run_call)]


def one_tool_raises(case: Case) -> Findings:
    """B037: two results and one error text, in the order of the calls, and a list that goes on."""
    messages = run_tools(case)
    texts = [text_of(message["content"]) for message in messages if message["role"] == "tool"]
    good = texts[:2] == ["ok", "ok"] and texts[2].startswith("error:") and "ValueError" in texts[2]
    yield "three results in call order: two real, one error text", good
    yield "the loop goes on", validate_messages(to_wire(messages)) == []


def first_times_out(case: Case) -> Findings:
    """B040: the first call fails, the second keeps its result."""
    texts = [text_of(message["content"]) for message in run_tools(case) if message["role"] == "tool"]
    yield case.expected[0], len(texts) == 2 and texts[0].startswith("error:") and texts[1] == "ok"


def hook_raises(case: Case) -> Findings:
    """B041: a listener that raises costs no result."""

    def listener(*_: Any) -> None:
        raise RuntimeError("listener")

    messages = run_tools(case, post_tool_call=listener)
    yield "result first, hooks afterwards", messages[-1].get("content") == "1"
    yield "a failing hook does not leave an open call", validate_messages(to_wire(messages)) == []


class ScriptedModel:
    """A client that makes so many calls of a tool, one after the other, then answers; `sent` are the requests."""

    def __init__(self, calls: int) -> None:
        self.calls = calls
        self.sent: list[list[Message]] = []
        self.chat = self
        self.completions = self

    def create(self, **request: Any) -> Any:
        """The next reply."""
        self.sent.append(list(request["messages"]))
        number = len(self.sent)
        reply = group(number, "")[0] if number <= self.calls else {"role": "assistant", "content": "done"}
        return _Response(reply)


class _Response:
    """The part of a response that an agent reads."""

    def __init__(self, reply: Message) -> None:
        self.usage = None
        self.choices = [self]
        self.message = reply


def run_agent(calls: int, result: str, window: int, **settings: Any) -> tuple[ScriptedModel, list[int]]:
    """(the model with all requests, the numbers of the requests before which the list was compressed)."""
    model, compressed = ScriptedModel(calls), []
    registry = ToolRegistry([Tool("read_file", "", {"type": "object"}, lambda path: result)])

    def on_event(kind: str, **data: Any) -> None:
        if kind == "compression" and data["report"].outcome != "unchanged":
            compressed.append(len(model.sent))

    agent = StuckAwareAgent(
        model, "m", registry, context_length=window, summarize=summarize, on_event=on_event, **settings
    )
    agent.run([SYSTEM, {"role": "user", "content": "read them all"}])
    return model, compressed


def checked_inside_the_loop(case: Case) -> Findings:
    """B075: forty calls in one turn; no request is ever over the window."""
    model, compressed = run_agent(40, "x " * 500, 2 * case.settings["threshold_tokens"])
    longest = max(map(estimate_tokens, model.sent))
    yield (
        case.expected[0],
        len(model.sent) == 41 and bool(compressed) and longest < 2 * case.settings["threshold_tokens"],
    )


def append_only(case: Case) -> Findings:
    """B130: between compressions a request begins with the one before it, and pruning comes in few steps."""
    model, compressed = run_agent(20, "x " * 500, 6_000)
    pairs = list(enumerate(zip(model.sent, model.sent[1:], strict=False), 1))
    broken = [number for number, (old, new) in pairs if new[: len(old)] != old]
    yield case.expected[0], broken == sorted(set(compressed))
    yield case.expected[1], len(compressed) <= len(model.sent) // 4


def newest_topic(case: Case) -> Findings:
    """B109: four topics with a compression after each; the newest is always there, the summary stays in its budget."""
    messages, there, sizes = [SYSTEM], [], []
    client = FakeSummarizer({"replies": [f"## Goal\n{'topic ' * 500}"]}, lambda: None)
    budget = summary_budget(10_000, 100_000)

    def update(turns: list[Message], previous_summary: str | None) -> str:
        return summarize_middle(turns, client, "fake", previous_summary, budget)

    for number in range(4):
        messages = [*messages, {"role": "user", "content": f"TOPIC {number}"}, *session(6)[2:]]
        messages.append({"role": "assistant", "content": f"topic {number} is closed"})
        messages, _ = compress(messages, update, tail_token_budget=200)
        there.append(f"TOPIC {number}" in str(messages) + client.prompts[-1])
        sizes += [estimate_tokens([message]) for message in messages if is_summary(message)]
    yield "summary has a fixed budget", len(sizes) == 4 and max(sizes) <= 2 * budget + 50
    yield (
        "the prompt asks to drop finished work; newest goal first",
        all(there) and all("newest request first" in prompt for prompt in client.prompts),
    )


def store_at(folder: str) -> SessionStore:
    """The store of a test, opened anew."""
    return SessionStore(Path(folder) / "sessions.sqlite")


def restore(case: Case) -> Findings:
    """B117, B126: what was current when saved comes back; what it replaced is in the file, not in the list."""
    with tempfile.TemporaryDirectory() as folder:
        old = session(10)
        new, report = compress(old, summarize, tail_token_budget=200)
        with store_at(folder) as store:
            parent = store.create(None, old)
            child = store.create(parent, new)
            untouched = store.create(None, old)
        with store_at(folder) as store:
            loaded, kept, control = store.load(child), store.load(parent), store.load(untouched)
            history = store.history(child)
    same = loaded == new and sum(map(is_summary, loaded)) == 1 and report.outcome == "compressed"
    yield case.expected[0], same
    yield case.expected[1], kept == old and history == old and control == old


def one_transaction(case: Case) -> Findings:
    """B118: a write that fails in its middle leaves what was there."""
    with tempfile.TemporaryDirectory() as folder, store_at(folder) as store:
        old = session(9)
        parent = store.create(None, old)
        try:
            store.create(parent, [old[0], {"role": "user", "content": object()}, *old[2:5]])
            failed = False
        except Exception:  # which error it is belongs to chapter 3
            failed = True
        yield case.expected[0], failed and store.load(parent) == old and store.latest() == parent


def session_before_child(case: Case) -> Findings:
    """B121: an agent that compresses in mid-turn leaves the old session complete, and the child names its parent."""
    with tempfile.TemporaryDirectory() as folder, store_at(folder) as store:
        model, _ = run_agent(20, "x " * 500, 4_000, store=store)
        last = store.latest() or ""
        line, history = store.lineage(last), store.history(last)
    calls = [call["id"] for message in history for call in message.get("tool_calls") or ()]
    complete = calls == [f"c{number}" for number in range(1, 21)] and history[-1]["content"] == "done"
    yield case.expected[0], len(line) > 1 and complete and len(model.sent) == 21


def damaged_row(case: Case) -> Findings:
    """B123: a damaged row is named and left out; the others are read."""
    with tempfile.TemporaryDirectory() as folder:
        with store_at(folder) as store:
            name = store.create(None, [{"role": "user", "content": row} for row in case.settings["rows"]])
        with sqlite3.connect(Path(folder) / "sessions.sqlite") as file:
            file.execute("UPDATE messages SET body = 'not json {{{' WHERE position = 3")
        file.close()
        with store_at(folder) as store:
            loaded = [message["content"] for message in store.load(name)]
            reported = bool(store.problems)
    yield "a bad row is skipped and reported; the rest loads", loaded == ["valid 0", "valid 1", "valid 2"] and reported
    yield "limit counts good rows", loaded[-2:] == ["valid 1", "valid 2"]


def settings_are_kept(case: Case) -> Findings:
    """B128: what steers compression is stored with the session and its children; the head is kept after a restart."""
    meta = {"protect_first": case.settings["protect_head"] + 1, "compressions": 1}
    old = [SYSTEM, {"role": "user", "content": "PIN 1"}, {"role": "assistant", "content": "PIN 2"}, *session(10)[1:]]
    with tempfile.TemporaryDirectory() as folder:
        with store_at(folder) as store:
            child = store.create(store.create(None, old, meta=meta), old)
        with store_at(folder) as store:
            again, known = store.load(child), store.meta(child)
    result, _ = compress(again, summarize, protect_first=known["protect_first"], tail_token_budget=200)
    yield case.expected[0], known == meta and "PIN 1" in str(result) and "PIN 2" in str(result)


def cleared_text_is_found(case: Case) -> Findings:
    """B129: a placeholder sends nobody anywhere, and what it replaced is found in the store."""
    old = session(1, "the needle is 4711 " + "hay " * 400) + session(8)[2:]
    new, _ = compress(old, summarize, tail_token_budget=200, limit=4_000)
    with tempfile.TemporaryDirectory() as folder, store_at(folder) as store:
        child = store.create(store.create(None, old), new)
        found = store.search("needle 4711", session_id=child)
    yield case.expected[0], "needle" not in str(new) and len(found) == 1 and "4711" in found[0]["snippet"]


GENERATORS: dict[str, Callable[[Case], Findings]] = {
    "B037": one_tool_raises,
    "B040": first_times_out,
    "B041": hook_raises,
    "B075": checked_inside_the_loop,
    "B109": newest_topic,
    "B117": restore,
    "B118": one_transaction,
    "B121": session_before_child,
    "B123": damaged_row,
    "B126": restore,
    "B128": settings_are_kept,
    "B129": cleared_text_is_found,
    "B130": append_only,
}


def store_and_load(messages: list[Message]) -> list[Message]:
    """What a store gives back of messages that were mended at the door."""
    with tempfile.TemporaryDirectory() as folder:
        with store_at(folder) as store:
            name = store.create(None, sanitize_tool_pairs(messages)[0])
        with store_at(folder) as store:
            return store.load(name)
