"""Cases that need more than a list: a store, tools, a loop. One function for each, id -> (statement, holds) pairs."""

from __future__ import annotations

import signal
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from course.conform.cases import Case
from course.conform.costs import Findings, costs_only_grow, every_call_is_recorded, summary_shares_no_prefix
from course.conform.fake import FakeSummarizer
from reference.ch02_tools import Tool, ToolAgent, ToolRegistry
from reference.ch03_sessions import SessionStore
from reference.ch05_budget import estimate_tokens
from reference.ch07_boundaries import is_summary
from reference.ch08_alignment import sanitize_tool_pairs
from reference.ch09_summary import summarize_middle, summary_budget
from reference.ch10_compress import compress
from reference.ch11_stuck import StuckAwareAgent
from reference.messages import Message

LONGEST_WAIT = 10.0  # seconds that a tool hangs when nobody ends it
SYSTEM: Message = {"role": "system", "content": "You are a careful coding agent."}


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


def tool_of(name: str, behaviour: str, end: threading.Event) -> Tool:
    """A tool that does what the words of a case say: it raises, hangs until `end`, or returns a text."""

    def run(**_: Any) -> str:
        if "never returns" in behaviour or "times out" in behaviour:
            end.wait(LONGEST_WAIT)
        if "raises" in behaviour:
            raise ValueError(behaviour)
        if "times out" in behaviour:
            raise TimeoutError(behaviour)
        return behaviour.removeprefix("returns ")

    return Tool(name, "", {"type": "object"}, run)


def run_tools(case: Case) -> list[Message]:
    """The messages of a turn that calls the tools of a case, one call each, by the agent of chapter 2.

    With the setting `interrupt` a real SIGINT comes after so many milliseconds, as if the user pressed Ctrl-C. With
    `hook` the agent's listener raises at the end of each call.
    """
    tools: dict[str, str] = case.settings["tools"]
    names = case.settings.get("calls") or list(tools)
    calls = [
        {"id": f"t{place}", "type": "function", "function": {"name": name, "arguments": "{}"}}
        for place, name in enumerate(names)
    ]
    end = threading.Event()
    if not case.settings.get("interrupt"):
        end.set()  # nobody would end a tool that hangs
    registry = ToolRegistry(tool_of(name, words, end) for name, words in tools.items())
    agent = ToolAgent(None, "none", registry, post_tool_call=_listener if case.settings.get("hook") else None)
    agent.messages = [*(case.messages or []), {"role": "assistant", "content": None, "tool_calls": calls}]
    try:
        with interrupted(case.settings.get("interrupt")):
            agent.remember(agent.act(calls))
    except KeyboardInterrupt:
        pass  # what the agent kept of it is the outcome
    finally:
        end.set()
    return agent.messages


def _listener(*_: Any) -> None:
    raise RuntimeError("the listener failed")


@contextmanager
def interrupted(setting: Any) -> Iterator[None]:
    """A block into whose thread SIGINT comes after `after_ms`; it must be the main thread, as for a real Ctrl-C."""
    if not setting:
        yield
        return
    main = threading.main_thread().ident or 0
    after = setting.get("after_ms", 50) if isinstance(setting, dict) else 50
    timer = threading.Timer(after / 1000, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


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


def run_agent(
    calls: int, result: str, window: int, heard: list[str] | None = None, **settings: Any
) -> tuple[ScriptedModel, list[int]]:
    """(the model with all requests, the numbers of the requests before which the list was compressed).

    The kinds of all events are appended to `heard`.
    """
    model, compressed = ScriptedModel(calls), []
    registry = ToolRegistry([Tool("read_file", "", {"type": "object"}, lambda path: result)])

    def on_event(kind: str, **data: Any) -> None:
        if heard is not None:
            heard.append(kind)
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


def frequency(case: Case) -> Findings:
    """B047: a result of 90 % of the window after each of many compressions, all of which succeed: it is noticed."""
    passes, window, heard = case.settings["passes"], 8_000, list[str]()
    model, compressed = run_agent(passes, "x " * int(0.9 * window * 4 / 2), window, heard)
    yield case.expected[0], len(model.sent) == passes + 1 and len(compressed) >= passes - 1 and "frequent" in heard


GENERATORS: dict[str, Callable[[Case], Findings]] = {
    "B047": frequency,
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
    "B131": every_call_is_recorded,
    "B132": summary_shares_no_prefix,
    "B134": costs_only_grow,
}


def store_and_load(messages: list[Message]) -> list[Message]:
    """What a store gives back of messages that were mended at the door."""
    with tempfile.TemporaryDirectory() as folder:
        with store_at(folder) as store:
            name = store.create(None, sanitize_tool_pairs(messages)[0])
        with store_at(folder) as store:
            return store.load(name)
