"""Chapter 2: every call gets exactly one result, in the order of the calls, whatever happens."""

from __future__ import annotations

import threading

import pytest

from tests.conftest import call

NO_ARGUMENTS = {"type": "object", "properties": {}}


def tool(chapter, name, run, **settings):
    return chapter.Tool(name, f"the tool {name}", NO_ARGUMENTS, run, **settings)


def made(call_id, name, arguments="{}"):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


@pytest.fixture
def registry(chapter):
    def fails():
        raise ValueError("disk on fire")

    return chapter.ToolRegistry(
        [
            tool(chapter, "greet", lambda name="you": f"hello {name}"),
            tool(chapter, "fails", fails),
            tool(chapter, "number", lambda: 42),
        ]
    )


@pytest.mark.parametrize(
    ("name", "arguments", "result"),
    [
        ("greet", '{"name": "Ada"}', "hello Ada"),
        ("greet", "", "error: the arguments of greet are not a JSON object"),  # what was meant is not known
        ("number", "{}", "42"),  # a result is text
        ("nowhere", "{}", "error: there is no tool 'nowhere'; available: greet, fails, number"),
        ("greet", '{"name": "A', "error: the arguments of greet are not a JSON object"),  # cut off
        ("greet", "[1]", "error: the arguments of greet are not a JSON object"),
        ("greet", '{"unparsed": "{"}', "error: the arguments of greet are not a JSON object"),  # mended on arrival
        ("greet", '{"who": "Ada"}', "error: greet failed: TypeError"),  # an argument that the tool does not have
        ("fails", "{}", "error: fails failed: ValueError: disk on fire"),
    ],
)
def test_every_failure_is_a_result_that_says_so(registry, name, arguments, result):
    assert registry.dispatch(made("c", name, arguments)).startswith(result)


def test_results_stand_in_the_order_of_the_calls(chapter):
    """The first call cannot finish before the second has: only threads get this done, and order is still kept."""
    second_is_done = threading.Event()

    def slow():
        assert second_is_done.wait(20), "the calls did not run side by side"
        return "slow"

    def fast():
        second_is_done.set()
        return "fast"

    registry = chapter.ToolRegistry([tool(chapter, "slow", slow), tool(chapter, "fast", fast)])
    results = chapter.run_tool_calls([made("a", "slow"), made("b", "fast")], registry.dispatch)
    assert [(r["tool_call_id"], r["content"]) for r in results] == [("a", "slow"), ("b", "fast")]
    assert {r["role"] for r in results} == {"tool"}


def test_one_failing_call_leaves_the_others_their_results(chapter, registry):
    calls = [made("a", "number"), made("b", "fails"), made("c", "greet")]
    contents = [result["content"] for result in chapter.run_tool_calls(calls, registry.dispatch)]
    assert contents[0] == "42"
    assert contents[1].startswith("error: fails failed")
    assert contents[2] == "hello you"


def test_a_sequential_tool_makes_the_whole_batch_sequential(chapter, provider_with):
    threads = []
    registry = chapter.ToolRegistry(
        [
            tool(chapter, "note", lambda: threads.append(threading.current_thread()), sequential=True),
            tool(chapter, "look", lambda: threads.append(threading.current_thread())),
        ]
    )
    reply = {"role": "assistant", "content": None, "tool_calls": [made("a", "look"), made("b", "note")]}
    with provider_with(reply, "Done.") as provider, provider.client() as client:
        chapter.ToolAgent(client, "m", registry).run([{"role": "user", "content": "go"}])
    assert threads == [threading.current_thread()] * 2


def test_the_schemas_are_sent_in_order_of_registration(chapter, registry, provider_with):
    with provider_with("Done.") as provider, provider.client() as client:
        chapter.ToolAgent(client, "m", registry).run([{"role": "user", "content": "go"}])
    assert [sent["function"]["name"] for sent in provider.log[0].body["tools"]] == ["greet", "fails", "number"]


def test_a_name_can_be_taken_once(chapter, registry):
    with pytest.raises(ValueError, match="'greet' is registered already"):
        registry.register(tool(chapter, "greet", lambda: ""))


def test_the_agent_answers_a_call_to_a_tool_that_is_not_there(chapter, registry, provider_with):
    reply = {"role": "assistant", "content": None, "tool_calls": [call("a", tool="nowhere")]}
    with provider_with(reply, "Sorry.") as provider, provider.client() as client:
        outcome = chapter.ToolAgent(client, "m", registry).run([{"role": "user", "content": "go"}])
    assert outcome["stop_reason"] == "answer"
    assert outcome["messages"][2]["content"].startswith("error: there is no tool 'nowhere'")
