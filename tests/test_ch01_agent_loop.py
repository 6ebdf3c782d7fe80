"""Chapter 1: the loop, what is sent, and what comes back into the history."""

from __future__ import annotations

import copy
import json
from types import SimpleNamespace

import pytest

from tests.conftest import call

ASK = [{"role": "user", "content": "Read a.md."}]
READ = {"role": "assistant", "content": None, "tool_calls": [call("call_1")]}
SCHEMA = {"type": "function", "function": {"name": "read_file", "description": "", "parameters": {"type": "object"}}}


@pytest.mark.exercise("1.1")
@pytest.mark.parametrize(
    ("message", "sent"),
    [
        ({"role": "user", "content": "Hi"}, {"role": "user", "content": "Hi"}),  # nothing to strip
        ({"role": "assistant", "content": "Hi", "reasoning": "greet"}, {"role": "assistant", "content": "Hi"}),
        (
            {"role": "assistant", "content": None, "tool_calls": [1]},
            {"role": "assistant", "content": None, "tool_calls": [1]},
        ),
        (
            {"role": "assistant", "content": "Hi", "tool_calls": None},
            {"role": "assistant", "content": "Hi"},
        ),  # model_dump()
        ({"role": "user", "content": "Hi", "tool_call_id": "x"}, {"role": "user", "content": "Hi"}),  # not a user's key
        (
            {"role": "tool", "content": "r", "tool_call_id": "x", "_at": 1},
            {"role": "tool", "content": "r", "tool_call_id": "x"},
        ),
    ],
)
def test_to_wire_sends_what_a_provider_knows(chapter, message, sent):
    before = copy.deepcopy(message)
    assert chapter.to_wire([message]) == [sent]
    assert message == before, "the caller's message was changed"
    if message == sent:
        assert chapter.to_wire([message])[0] is message, "a message with nothing to strip is the same object"


@pytest.mark.exercise("1.1")
def test_to_wire_keeps_every_message_in_its_order(chapter):
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u", "_at": 1},
        {"role": "assistant", "content": None, "tool_calls": [call("c")], "reasoning": "r"},
        {"role": "tool", "content": "t", "tool_call_id": "c", "_at": 2},
        {"role": "critic", "content": "k", "tool_calls": []},
        {"content": "no role"},
    ]
    assert chapter.to_wire(messages) == [
        messages[0],
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": None, "tool_calls": [call("c")]},
        {"role": "tool", "content": "t", "tool_call_id": "c"},
        {"role": "critic", "content": "k"},
        {"content": "no role"},
    ]


@pytest.mark.exercise("1.2")
@pytest.mark.parametrize(
    ("reply", "content", "arguments"),
    [
        ({"content": "Hello"}, "Hello", []),
        (
            {"content": "Let me look.", "tool_calls": [call("c")]},
            "Let me look.",
            ['{"path": "a.md"}'],
        ),  # text beside calls
        ({"content": None, "tool_calls": [call("c")]}, None, ['{"path": "a.md"}']),
        ({"content": ""}, "[The model gave an empty reply.]", []),  # a provider refuses an assistant that says nothing
        ({"content": " \n"}, "[The model gave an empty reply.]", []),
        ({"content": "nul \0"}, "nul \ufffd", []),
        ({"content": "", "tool_calls": [call("c")]}, None, ['{"path": "a.md"}']),  # "" beside calls says nothing
        ({"content": "Hello", "tool_calls": None}, "Hello", []),  # the client's objects have the key with None
    ],
)
def test_assistant_message_is_sendable(chapter, reply, content, arguments):
    message = chapter.assistant_message(reply)
    assert message["role"] == "assistant"
    assert message["content"] == content
    assert [made["function"]["arguments"] for made in message.get("tool_calls", [])] == arguments
    assert ("tool_calls" in message) == bool(arguments), "without calls the key has to be absent"


def as_object(reply):
    """A reply in the form of the client's objects: attributes, and `model_dump` for the dict."""
    if isinstance(reply, list):
        return [as_object(one) for one in reply]
    if not isinstance(reply, dict):
        return reply
    made = SimpleNamespace(**{key: as_object(value) for key, value in reply.items()})
    made.model_dump = lambda exclude_none=False, **options: {
        key: value for key, value in reply.items() if not exclude_none or value is not None
    }
    return made


@pytest.mark.exercise("1.2")
def test_a_reply_may_be_an_object_of_the_client(chapter):
    reply = {"role": "assistant", "content": None, "refusal": None, "tool_calls": [call("c") | {"index": 0}]}
    message = chapter.assistant_message(as_object(reply))
    assert message == {"role": "assistant", "content": None, "tool_calls": [call("c")]}


@pytest.mark.exercise("1.2")
@pytest.mark.parametrize(("raw", "kept"), [('{"a": 1}', '{"a": 1}'), ("", "{}"), ('{"a"', '{"unparsed": "{\\"a\\""}')])
def test_arguments_become_a_json_object(chapter, raw, kept):
    made = {"id": "c", "function": {"name": "f", "arguments": raw}}
    message = chapter.assistant_message({"tool_calls": [made]})
    assert [one["function"]["arguments"] for one in message["tool_calls"]] == [kept]


def scripted(chapter, *replies, **settings):
    """An agent whose model gives these replies: nothing but `run` is under test."""
    left = iter(replies)

    class Scripted(chapter.Agent):
        def query(self):
            return dict(next(left))

    return Scripted(None, "m", execute=lambda name, arguments: f"the text of {arguments['path']}", **settings)


NAMES = {"u": "user", "a": "assistant", "t": "tool"}
DONE = {"role": "assistant", "content": "It says so."}
LOOK = {"role": "assistant", "content": "Let me look.", "tool_calls": [call("call_1"), call("call_2", "b.md")]}


@pytest.mark.exercise("1.3")
@pytest.mark.parametrize(
    ("replies", "limit", "expected"),
    [
        ([DONE], 90, ("answer", "It says so.", 1, "ua")),  # a text ends it at once
        ([READ, DONE], 90, ("answer", "It says so.", 2, "uata")),  # a call, its result, and the answer
        ([LOOK, DONE], 90, ("answer", "It says so.", 2, "uatta")),  # text beside calls is no answer: the calls are run
        ([READ, READ, READ, DONE], 90, ("answer", "It says so.", 4, "uatatata")),
        ([READ, DONE], 2, ("answer", "It says so.", 2, "uata")),  # an answer to the last request that is allowed
        ([READ, READ, DONE], 2, ("max_iterations", "", 2, "uatat")),  # the limit; every call is answered, also the last
        ([READ, DONE], 1, ("max_iterations", "", 1, "uat")),
    ],
)
def test_run_goes_on_until_a_reply_without_calls(chapter, replies, limit, expected):
    outcome = scripted(chapter, *replies, max_iterations=limit).run(ASK)
    assert [message["role"] for message in outcome["messages"]] == [NAMES[letter] for letter in expected[3]]
    assert (outcome["stop_reason"], outcome["final_response"], outcome["iterations"]) == expected[:3]


@pytest.mark.exercise("1.3")
def test_run_keeps_replies_and_results_in_their_order(chapter):
    outcome = scripted(chapter, LOOK, DONE).run(ASK)
    results = [
        {"role": "tool", "tool_call_id": "call_1", "content": "the text of a.md"},
        {"role": "tool", "tool_call_id": "call_2", "content": "the text of b.md"},
    ]
    assert outcome["messages"] == [*ASK, LOOK, *results, DONE]


@pytest.mark.exercise("1.3")
def test_a_run_begins_anew_and_leaves_the_input_alone(chapter):
    agent, start = scripted(chapter, READ, DONE, DONE), [dict(ASK[0])]
    agent.run(start)
    assert start == ASK, "the caller's list was changed: the history is a list of its own"
    again = agent.run(start)
    assert (again["iterations"], len(again["messages"])) == (1, 2), "a second run counts and remembers from the start"


@pytest.mark.exercise("1.3")
def test_whoever_listens_hears_of_every_message(chapter):
    heard = []
    agent = scripted(chapter, LOOK, DONE, on_event=lambda kind, **data: heard.append(kind))
    agent.run(ASK)
    wanted = ["response", "tool_end", "tool_end", "response"]
    assert [kind for kind in heard if kind != "tool_start"] == wanted, "append with `self.remember`, which tells it"


def test_the_loop_runs_tools_until_a_text_comes(chapter, provider_with):
    seen = []

    def execute(name, arguments):
        seen.append((name, arguments))
        return "the text of a.md"

    with provider_with(READ, "It says so.") as provider, provider.client() as client:
        start = [dict(ASK[0])]
        outcome = chapter.run_conversation(client, "m", start, [SCHEMA], execute)
        assert start == ASK, "the caller's list was changed"
    assert seen == [("read_file", {"path": "a.md"})]
    assert outcome["final_response"] == "It says so."
    assert (outcome["iterations"], outcome["stop_reason"]) == (2, "answer")
    assert [message["role"] for message in outcome["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert outcome["messages"][2] == {"role": "tool", "tool_call_id": "call_1", "content": "the text of a.md"}
    assert [exchange.status for exchange in provider.log] == [200, 200]


def test_the_loop_ends_at_max_iterations(chapter, provider_with):
    with provider_with(READ, READ, READ) as provider, provider.client() as client:
        outcome = chapter.run_conversation(client, "m", ASK, [SCHEMA], lambda name, arguments: "x", max_iterations=3)
    assert (outcome["iterations"], outcome["stop_reason"], outcome["final_response"]) == (3, "max_iterations", "")
    assert outcome["messages"][-1]["role"] == "tool", "every call is answered, also the last"
    assert chapter.MAX_ITERATIONS == 90


def test_a_call_without_tools_gets_an_error_result(chapter, provider_with):
    with provider_with(READ, "Sorry.") as provider, provider.client() as client:
        outcome = chapter.run_conversation(client, "m", ASK, [SCHEMA])
    assert outcome["messages"][2]["content"].startswith("error:")


def test_internal_keys_are_kept_in_the_history_and_never_sent(chapter, provider_with):
    with provider_with("Done.") as provider, provider.client() as client:
        outcome = chapter.run_conversation(client, "m", [{**ASK[0], "_seen_at": 3}])
    assert outcome["messages"][0]["_seen_at"] == 3
    assert json.dumps(provider.log[0].body["messages"]) == json.dumps(ASK)
