"""When something fails in the middle of a compression: afterwards the old or the new state, and nothing is lost."""

from __future__ import annotations

import copy
import os
import signal
import threading
import time

import pytest

from course.provider import rules
from reference.ch01_agent_loop import to_wire
from reference.ch02_tools import INTERRUPTED, Tool, ToolAgent, ToolRegistry
from reference.ch03_sessions import SessionStore
from reference.ch05_budget import estimate_tokens
from reference.ch07_boundaries import is_bridge, is_summary
from reference.ch09_summary import SummaryError
from reference.ch10_compress import compress
from reference.ch11_stuck import compress_or_raise
from reference.pairing import STUB_RESULT
from tests.conftest import call

BIG = "data " * 400
LATE = {"role": "user", "content": "ARRIVED LATE"}


def summarize(turns, previous):
    return f"## Goal\n{len(turns)} turns"


@pytest.fixture
def messages(conversation):
    return conversation(results=[BIG] * 8)


def raising(error):
    def fails(turns, previous):
        raise error

    return fails


class OddError(Exception):
    def __str__(self):
        return ""


FAILURES = [
    ("a refusal", raising(SummaryError("no")), "the summary failed: no"),
    ("the network", raising(ConnectionError("lost")), "lost"),
    ("a timeout", raising(TimeoutError("slow")), "slow"),
    ("the memory", raising(MemoryError()), "MemoryError"),
    ("a fault of ours", raising(KeyError("choices")), "choices"),
    ("an error without a word", raising(OddError()), "OddError"),
    ("nothing", lambda turns, previous: None, "empty"),
    ("an empty text", lambda turns, previous: "", "empty"),
    ("a blank text", lambda turns, previous: " \n\t", "empty"),
    ("no text", lambda turns, previous: {"summary": "x"}, "empty"),
    ("a text over its budget", lambda turns, previous: "word " * 20_000, "not smaller than"),
    ("a text as long as the middle", lambda turns, previous: BIG * 8, "not smaller than"),
]


@pytest.mark.parametrize(("what", "failing", "reason"), FAILURES, ids=[row[0] for row in FAILURES])
def test_a_summary_that_fails_leaves_every_message(messages, what, failing, reason):
    before = copy.deepcopy(messages)
    result, report = compress(messages, failing, tail_token_budget=100)
    assert messages == before
    assert reason in report.reason
    assert report.summary_failed
    assert report.outcome == "pruned"
    assert [m["role"] for m in result if not is_bridge(m)] == [m["role"] for m in messages]
    assert not any(map(is_summary, result))
    assert rules.violations(to_wire(result)) == []
    assert report.after == estimate_tokens(result) < report.before


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_a_cancellation_during_the_summary_call_changes_nothing(messages, stop):
    """It is no failure of the summary: it goes through, and who called still holds the list."""
    before = copy.deepcopy(messages)
    objects = list(map(id, messages))
    with pytest.raises(stop):
        compress(messages, raising(stop()), tail_token_budget=100)
    assert messages == before
    assert list(map(id, messages)) == objects
    result, report = compress(messages, summarize, tail_token_budget=100)
    assert report.outcome == "compressed"
    assert sum(map(is_summary, result)) == 1


def arriving(live, *late):
    """A summariser during whose call messages arrive in the live list."""

    def summarize_and_receive(turns, previous):
        live.extend(late)
        return "## Goal\nall"

    return summarize_and_receive


def test_messages_that_arrive_during_the_summary_stand_behind_it(messages):
    result, report = compress(messages, arriving(messages, LATE), tail_token_budget=100)
    assert report.outcome == "compressed"
    assert result[-1] is LATE
    assert rules.violations(to_wire(result)) == []
    assert report.after == estimate_tokens(result)


def test_messages_that_arrive_while_a_summary_fails_are_kept(messages):
    def fails(turns, previous):
        messages.append(LATE)
        raise RuntimeError("down")

    result, report = compress(messages, fails, tail_token_budget=100)
    assert report.summary_failed
    assert result[-1] is LATE


def test_a_big_message_that_arrives_does_not_undo_the_compression(messages):
    late = {"role": "user", "content": BIG * 20}
    result, report = compress(messages, arriving(messages, late), tail_token_budget=100)
    assert report.outcome == "compressed"
    assert result[-1] is late


@pytest.mark.parametrize("in_flight", [False, True])
def test_a_result_that_arrives_during_the_summary_answers_its_call(messages, in_flight):
    late = {"role": "tool", "tool_call_id": "run", "content": "exit 0"}
    messages.append({"role": "assistant", "content": None, "tool_calls": [call("run", tool="bash")]})
    result, report = compress(messages, arriving(messages, late), tail_token_budget=100, in_flight=in_flight)
    assert report.outcome == "compressed"
    assert result[-1] is late
    assert STUB_RESULT not in [message.get("content") for message in result]
    assert rules.violations(to_wire(result)) == []


def test_an_open_group_waits_for_its_result(messages):
    messages.append({"role": "assistant", "content": None, "tool_calls": [call("run", tool="bash")]})
    result, report = compress(messages, summarize, tail_token_budget=100, in_flight=True)
    assert report.outcome == "compressed"
    assert result[-1] is messages[-1]
    late = {"role": "tool", "tool_call_id": "run", "content": "exit 0"}
    assert rules.violations(to_wire([*result, late])) == []


def test_an_open_group_waits_for_its_result_also_when_the_summary_fails(messages):
    messages.append({"role": "assistant", "content": None, "tool_calls": [call("run", tool="bash")]})
    result, report = compress(messages, raising(RuntimeError("down")), tail_token_budget=100, in_flight=True)
    assert report.summary_failed
    assert result[-1] is messages[-1]


@pytest.mark.parametrize("left", [0, 3])
def test_a_list_that_was_emptied_during_the_summary_stays_so(messages, left):
    def clears(turns, previous):
        del messages[left:]
        return "## Goal\nall"

    result, report = compress(messages, clears, tail_token_budget=100)
    assert [
        message for message in result if not is_bridge(message) and message.get("content") != STUB_RESULT
    ] == messages
    assert "taken away" in report.reason
    assert not any(map(is_summary, result))


def test_messages_of_another_thread_are_kept(messages):
    """Whatever arrives before the summary is there is in the result, in its order."""
    begun, told = threading.Event(), threading.Event()

    def user_speaks():
        begun.wait(5)
        messages.extend({"role": "user", "content": f"late {number}"} for number in range(3))
        told.set()

    def slow(turns, previous):
        begun.set()
        told.wait(5)
        return "## Goal\nall"

    thread = threading.Thread(target=user_speaks)
    thread.start()
    result, _ = compress(messages, slow, tail_token_budget=100)
    thread.join()
    assert [message["content"] for message in result if str(message["content"]).startswith("late")] == [
        "late 0",
        "late 1",
        "late 2",
    ]
    assert rules.violations(to_wire(result)) == []


def test_a_failure_is_mended_by_the_next_compression(messages):
    failed, _ = compress(messages, raising(RuntimeError("down")), tail_token_budget=100)
    result, report = compress(failed, summarize, tail_token_budget=100)
    assert report.outcome == "compressed"
    direct, _ = compress(messages, summarize, tail_token_budget=100)
    assert [message["role"] for message in result] == [message["role"] for message in direct]


def test_a_failed_summary_gets_the_last_resort(messages):
    messages[-1] = messages[-1] | {"content": "HEAD " + BIG * 20 + " TAIL"}
    result, report = compress_or_raise(messages, raising(RuntimeError("down")), limit=2_000, tail_token_budget=800)
    assert report.summary_failed
    assert report.after == estimate_tokens(result) < 2_000
    assert result[-1]["content"].startswith("HEAD ")
    assert result[-1]["content"].endswith(" TAIL")


def test_a_store_has_the_old_list_until_it_has_the_new_one(messages, tmp_path):
    """The child begins after the compression: what stops it before leaves the parent, complete and newest."""
    with SessionStore(tmp_path / "s.sqlite") as store:
        parent = store.create(None, messages)
        with pytest.raises(KeyboardInterrupt):
            store.create(parent, compress(store.load(parent), raising(KeyboardInterrupt()), tail_token_budget=100)[0])
        assert (store.latest(), store.load(parent)) == (parent, messages)
        result, _ = compress(store.load(parent), summarize, tail_token_budget=100)
        child = store.create(parent, result)
        assert (store.latest(), store.load(child), store.load(parent)) == (child, result, messages)
        assert store.history(child) == messages


def interrupt_once(done, count):
    """Wait for so many results, then press Ctrl-C, as a user does while a tool hangs."""
    deadline = time.monotonic() + 5
    while len(done) < count and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(0.05)  # until the last of them is taken in
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.skipif(os.name == "nt", reason="sends a signal to a thread")
@pytest.mark.parametrize("sequential", [False, True])
def test_an_interrupt_keeps_the_results_that_are_there(provider_with, sequential):
    done, end = [], threading.Event()

    def quick(name):
        return Tool(name, "", {}, lambda: done.append(name) or f"real {name}", sequential=sequential)

    registry = ToolRegistry([*map(quick, "abc"), Tool("hangs", "", {}, lambda: end.wait(10))])
    # One after the other, what comes behind the call that hangs never begins.
    names = ["a", "b", "c", "hangs"] if sequential else ["a", "b", "hangs", "c"]
    calls = [call(name, tool=name) | {"function": {"name": name, "arguments": "{}"}} for name in names]
    reply = {"role": "assistant", "content": None, "tool_calls": calls}
    user = threading.Thread(target=interrupt_once, args=(done, 3))
    with provider_with(reply) as provider, provider.client() as client:
        agent = ToolAgent(client, "m", registry)
        user.start()
        with pytest.raises(KeyboardInterrupt):
            agent.run([{"role": "user", "content": "go"}])
        end.set()
        user.join()
    results = {message["tool_call_id"]: message["content"] for message in agent.messages if message["role"] == "tool"}
    assert list(results) == names, "one result a call, in the order of the calls"
    assert [results[name] for name in "abc"] == ["real a", "real b", "real c"]
    assert results["hangs"] == INTERRUPTED
