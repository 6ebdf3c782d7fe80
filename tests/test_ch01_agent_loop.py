"""Chapter 1: the loop, what is sent, and what comes back into the history."""

from __future__ import annotations

import copy
import json

import pytest

from tests.conftest import call

ASK = [{"role": "user", "content": "Read a.md."}]
READ = {"role": "assistant", "content": None, "tool_calls": [call("call_1")]}
SCHEMA = {"type": "function", "function": {"name": "read_file", "description": "", "parameters": {"type": "object"}}}


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
        assert chapter.to_wire([message])[0] is message


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
    ],
)
def test_assistant_message_is_sendable(chapter, reply, content, arguments):
    message = chapter.assistant_message(reply)
    assert message["role"] == "assistant"
    assert message["content"] == content
    assert [made["function"]["arguments"] for made in message.get("tool_calls", [])] == arguments
    assert ("tool_calls" in message) == bool(arguments), "without calls the key has to be absent"


@pytest.mark.parametrize(("raw", "kept"), [('{"a": 1}', '{"a": 1}'), ("", "{}"), ('{"a"', '{"unparsed": "{\\"a\\""}')])
def test_arguments_become_a_json_object(chapter, raw, kept):
    made = {"id": "c", "function": {"name": "f", "arguments": raw}}
    assert chapter.assistant_message({"tool_calls": [made]})["tool_calls"][0]["function"]["arguments"] == kept


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
