"""Chapter 10: assembly, bridges, and the agent that makes room before each request."""

from __future__ import annotations

import pytest

from course.provider import Model, Provider
from reference.ch01_agent_loop import to_wire
from reference.ch02_tools import Tool, ToolRegistry
from reference.ch07_boundaries import BRIDGE_ASSISTANT, BRIDGE_USER, is_summary
from reference.ch08_alignment import validate_messages
from tests.conftest import call

SYSTEM = {"role": "system", "content": "s"}
BIG = "data " * 400


def user(text):
    return {"role": "user", "content": text}


def says(text):
    return {"role": "assistant", "content": text}


def summarize(turns, previous):
    return f"## Goal\n{len(turns)} turns"


def roles(messages):
    return "".join(message["role"][0] for message in messages)


@pytest.mark.parametrize(
    ("messages", "bridged"),
    [
        ([SYSTEM, user("a"), says("b")], "sua"),  # nothing to bridge
        ([SYSTEM, user("a"), user("b")], "suau"),
        ([SYSTEM, user("a"), says("b"), says("c")], "suaua"),
        ([SYSTEM, says("b")], "sua"),  # an assistant first
        ([SYSTEM], "su"),  # no user at all
        ([], ""),
        ([SYSTEM, user(BRIDGE_USER), user("a")], "su"),  # an old bridge is dropped first
        ([SYSTEM, user("a"), says(BRIDGE_ASSISTANT), says("b")], "sua"),
    ],
)
def test_bridges(chapter, messages, bridged):
    result = chapter.bridge_roles(messages)
    assert roles(result) == bridged
    assert chapter.bridge_roles(result) == result, "bridging twice is bridging once"
    assert not result or validate_messages(to_wire(result)) == []


def test_the_parts_stand_in_their_order(chapter, conversation):
    messages = conversation(results=[BIG] * 4, reply="A is done.") + conversation(results=[BIG] * 4)[1:]
    messages[11] = user("Now B.")
    result, report = chapter.compress(messages, summarize, protect_first=1, tail_token_budget=600)
    bridge = {"role": "user", "content": BRIDGE_USER, "_generated": "bridge"}
    summary = result[2]
    assert is_summary(summary)
    assert result == [messages[0], bridge, summary, bridge, says("A is done."), user("Now B."), *messages[-2:]]
    assert report.outcome == "compressed"
    assert validate_messages(to_wire(result)) == []


@pytest.mark.parametrize(
    ("parallel", "results", "budget", "kept"),
    [
        (1, 6, 0, 1),  # a tail budget of nothing keeps the last group
        (3, 6, 0, 3),  # the whole of it
        (3, 6, 700, 3),  # a cut inside a group moves back to its assistant
        (1, 6, 1_100, 2),
    ],
)
def test_the_tail_keeps_whole_groups(chapter, conversation, parallel, results, budget, kept):
    messages = conversation(results=[BIG] * results, parallel=parallel)
    result, _ = chapter.compress(messages, summarize, tail_token_budget=budget, keep_recent=99)
    assert sum(message["role"] == "tool" for message in result) == kept
    assert validate_messages(to_wire(result)) == []


def test_results_that_the_model_has_not_seen_are_not_pruned(chapter, conversation):
    messages = conversation(results=[BIG] * 5, parallel=5)
    result, _ = chapter.compress(messages, summarize, keep_recent=0, limit=10)
    assert [message["content"] for message in result if message["role"] == "tool"] == [BIG] * 5


def test_pruning_that_is_enough_calls_no_model(chapter, conversation):
    def never(turns, previous):
        raise AssertionError("a model was called")

    messages = conversation(results=[BIG] * 20)
    result, report = chapter.compress(messages, never, limit=5_000)
    assert (report.outcome, report.summary_failed) == ("pruned", False)
    assert report.after < 5_000 < report.before
    assert len(result) == len(messages)
    _, report = chapter.compress(messages, summarize, limit=5_000, prune_limit=1_000, tail_token_budget=600)
    assert report.outcome == "compressed", "a smaller prune_limit asks for more than pruning gives"


def test_the_summariser_sees_the_middle_without_anchors_bridges_and_old_summary(chapter, conversation):
    seen = []

    def remember(turns, previous):
        seen.append((turns, previous))
        return f"## Goal\nround {len(seen)}"

    messages = conversation(results=[BIG] * 6)
    once, _ = chapter.compress(messages, remember, tail_token_budget=600)
    chapter.compress([*once, *conversation(results=[BIG] * 6)[2:]], remember, tail_token_budget=600)
    assert [previous for _, previous in seen] == [None, "## Goal\nround 1"]
    for turns, _ in seen:
        assert not any(is_summary(turn) or turn["role"] == "user" for turn in turns)


def read_file_agent(chapter, client, provider, summarize, **settings):
    registry = ToolRegistry([Tool("read_file", "", {"type": "object"}, lambda path: BIG)])
    return chapter.CompressingAgent(client, "m", registry, context_length=8_192, summarize=summarize, **settings)


def reader(calls):
    """A model that reads files until it has made so many calls, by the number of results it is shown or told of."""
    count = iter(range(calls))

    def answer(body):
        number = next(count, None)
        return says("done") if number is None else {**says(None), "tool_calls": [call(f"c{number}", f"{number}.md")]}

    return answer


def test_the_agent_makes_room_before_the_request_that_would_be_too_big(chapter):
    events = []
    with Provider([Model("m", 8_192, reader(60))]) as provider, provider.client() as client:
        agent = read_file_agent(
            chapter, client, provider, summarize, on_event=lambda kind, **data: events.append((kind, data))
        )
        outcome = agent.run([SYSTEM, user("Read everything.")])
    assert outcome["stop_reason"] == "answer"
    assert {exchange.status for exchange in provider.log} == {200}
    assert max(exchange.prompt_tokens for exchange in provider.log) < 8_192 * 0.6
    reports = [data["report"] for kind, data in events if kind == "compression"]
    assert {"compressed", "pruned"} == {report.outcome for report in reports}


def test_preflight_a_history_from_a_bigger_model_is_compressed_before_the_first_request(chapter, conversation):
    with Provider([Model("m", 8_192, reader(0))]) as provider, provider.client() as client:
        agent = read_file_agent(chapter, client, provider, summarize)
        agent.run(conversation(results=[BIG] * 40))
    assert [exchange.status for exchange in provider.log] == [200]
    assert provider.log[0].prompt_tokens < 4_096


def test_a_summary_that_fails_is_not_tried_again_at_once(chapter):
    tried = []

    def fails(turns, previous):
        tried.append(len(turns))
        raise RuntimeError("rate limit")

    with Provider([Model("m", 100_000, reader(60))]) as provider, provider.client() as client:
        agent = read_file_agent(chapter, client, provider, fails)
        agent.run([SYSTEM, user("Read everything.")])
    assert len(tried) > 1
    assert len(tried) <= 60 // chapter.SUMMARY_COOLDOWN
    assert not any("rate limit" in str(message) for message in agent.messages)
