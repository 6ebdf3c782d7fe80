"""Calls and results of any form are paired by place, mended and counted; what is refused is said."""

from __future__ import annotations

import pytest

from course.provider import rules
from reference.ch08_alignment import sanitize_tool_pairs, tool_groups, validate_messages
from reference.messages import has_text
from reference.pairing import STUB_RESULT, pair_by_place
from tests.conftest import call
from tests.guards.builders import READ, REPLY, SYSTEM, TEXT_PART, UNKNOWN, USER, asks, called, result


def test_a_result_goes_to_the_nearest_open_call_before_it():
    """Ids repeat in real life, and no result is lost where a call with its id waits for one."""
    messages = [USER, asks("a"), asks("a"), result("a", "of the second"), result("a", "of the first")]
    repaired, repairs = sanitize_tool_pairs(messages)
    assert repaired == [USER, messages[1], messages[4], messages[2], messages[3]]
    assert repairs == 1


def test_a_result_that_no_call_waits_for_is_dropped():
    messages = [USER, asks("a"), result("a", "mine"), asks("a"), result("a", "mine too"), result("a", "once more")]
    repaired, repairs = sanitize_tool_pairs(messages)
    assert (repaired, repairs) == (messages[:-1], 1)


@pytest.mark.parametrize(
    ("given", "ours"),
    [
        ({"role": "model", "content": "done"}, {"role": "assistant", "content": "done"}),
        ({"role": "ai", "content": "done"}, {"role": "assistant", "content": "done"}),
        ({"role": "human", "content": "go"}, {"role": "user", "content": "go"}),
    ],
)
def test_roles_of_other_programs_become_ours(given, ours):
    assert sanitize_tool_pairs([USER, given])[0] == [USER, ours]
    assert sanitize_tool_pairs([USER, given])[1] == 1


@pytest.mark.parametrize(
    ("messages", "repaired"),
    [
        # Only an assistant calls, and today's calls come before those of the older form.
        ([USER | {"function_call": READ["function"]}], [USER | {"function_call": READ["function"]}]),
        (
            [USER, asks("a") | {"function_call": {}}, result("a")],
            [USER, asks("a") | {"function_call": {}}, result("a")],
        ),
        ([USER | {"tool_calls": [READ]}, result("a")], [USER | {"tool_calls": [READ]}]),
    ],
)
def test_keys_that_stand_there_without_a_meaning_make_no_call(messages, repaired):
    assert sanitize_tool_pairs(messages)[0] == repaired


@pytest.mark.parametrize("role", [["user"], None, 5, "narrator"])
def test_a_role_of_any_form_is_taken_over_as_a_user(role):
    repaired, repairs = sanitize_tool_pairs([{"role": role, "content": "x"}])
    assert (repaired, repairs) == ([{"role": "user", "content": "x", "_generated": "unknown role"}], 1)
    assert validate_messages([{"role": role, "content": "x"}])[0].startswith("messages[0]: unknown role")


@pytest.mark.parametrize("answered", [True, False])
def test_a_tools_name_of_any_form_becomes_text(answered):
    odd = {"id": "a", "type": "function", "function": {"name": 5, "arguments": "{}"}}
    messages = [USER, called(odd), *([result("a")] if answered else [])]
    assert sanitize_tool_pairs(messages)[0][1]["tool_calls"][0]["function"]["name"] == "5"


def test_later_system_messages_are_folded_in_one_pass():
    many = [{"role": "system", "content": f"rule {number}"} for number in range(3_000)]
    repaired, repairs = sanitize_tool_pairs([*many[:1], USER, *many[1:]])
    assert repaired[0]["content"] == "\n\n".join(message["content"] for message in many)
    assert (len(repaired), repairs) == (2, 2_999)


def test_an_answer_goes_to_the_nearest_call_before_it():
    messages = [USER, asks("a"), asks("a"), {"role": "user", "content": "wait"}, result("a", "mine")]
    repaired, _ = sanitize_tool_pairs(messages)
    assert [message.get("content") for message in repaired if message["role"] == "tool"] == [STUB_RESULT, "mine"]


def test_a_stranger_behind_a_call_does_not_answer_it():
    repaired, repairs = sanitize_tool_pairs([USER, asks("a"), result("x", "not mine")])
    assert [message.get("content") for message in repaired if message["role"] == "tool"] == [STUB_RESULT]
    assert repairs == 2


def test_an_empty_list_of_calls_is_taken_away():
    repaired, _ = sanitize_tool_pairs([USER, {"role": "assistant", "content": "x", "tool_calls": []}])
    assert "tool_calls" not in repaired[1]


STUB = {"role": "tool", "tool_call_id": "a", "content": STUB_RESULT, "_generated": "stub"}
REPAIRED = [
    # (what arrives, the messages, the same repaired, repairs)
    ("an unknown role", [USER, {"role": "critic", "content": "x"}], [USER, {"role": "user", "content": "x", "_generated": "unknown role"}], 1),
    ("an unknown role behind a stray result", [result("x"), {"role": "critic", "content": "x"}], [{"role": "user", "content": "x", "_generated": "unknown role"}], 2),
    ("a late system message behind a stray result", [SYSTEM, USER, result("x"), SYSTEM], [{"role": "system", "content": "s\n\ns"}, USER], 2),
    ("two system messages at the beginning", [SYSTEM, {"role": "developer", "content": "d"}, USER], [{"role": "system", "content": "s\n\nd"}, USER], 1),
    ("a system message that says nothing", [{"role": "system", "content": None}, SYSTEM, USER], [SYSTEM, USER], 1),
    ("a later one that says nothing", [SYSTEM, {"role": "system", "content": None}, USER], [SYSTEM, USER], 1),
    ("parts behind a system prompt", [SYSTEM | {"content": "be brief"}, {"role": "system", "content": [TEXT_PART]}, USER], [{"role": "system", "content": [{"type": "text", "text": "be brief"}, TEXT_PART]}, USER], 2),
    ("a text behind parts", [{"role": "system", "content": [TEXT_PART], "name": "n"}, SYSTEM, USER], [{"role": "system", "content": [TEXT_PART, {"type": "text", "text": "s"}], "name": "n"}, USER], 2),
    ("parts behind nothing", [{"role": "system", "content": None}, {"role": "system", "content": [TEXT_PART]}, USER], [{"role": "system", "content": [TEXT_PART]}, USER], 1),
    ("two groups without results", [USER, asks("a"), asks("a")], [USER, asks("a"), STUB, asks("a"), STUB], 2),
    ("something else with the id of a call", [USER, asks("a"), USER | {"tool_call_id": "a"}], [USER, asks("a"), STUB, USER | {"tool_call_id": "a"}], 1),
    ("a result in the wrong place", [USER, asks("a", "b"), result("a"), REPLY, result("b")], [USER, asks("a", "b"), result("a"), result("b"), REPLY], 1),
    ("calls that are None", [USER, REPLY | {"tool_calls": None}], [USER, REPLY | {"tool_calls": None}], 0),
    ("an id that is a number", [USER, called(READ | {"id": 5}), result(5)], [USER, called(READ | {"id": "call#1"}), result("call#1")], 2),
    ("an id that is empty", [USER, called(READ | {"id": ""}), result("")], [USER, called(READ | {"id": "call#1"}), result("call#1")], 2),
    ("a call that is a text", [USER, called("ls -l")], [USER, called({"function": {"name": "unknown", "arguments": '{"unparsed": "ls -l"}'}, "id": "call#1", "type": "function"}), STUB | {"tool_call_id": "call#1"}], 3),
    ("a call without a function", [USER, called({"id": "a", "type": "function", "at": 3}), result("a")], [USER, called({"id": "a", "type": "function", "at": 3, "function": UNKNOWN}), result("a")], 1),
    ("a call of another type", [USER, called(READ | {"type": "custom"})], [USER, asks("a"), STUB], 2),
    ("a call without a type or a name", [USER, called({"id": "a", "function": {"arguments": "{}", "n": 1}})], [USER, called({"id": "a", "type": "function", "function": {"name": "unknown", "arguments": "{}", "n": 1}}), STUB], 2),
]  # fmt: skip


@pytest.mark.parametrize(("what", "messages", "expected", "repairs"), REPAIRED, ids=[row[0] for row in REPAIRED])
def test_what_arrives_broken_becomes_exactly_this(what, messages, expected, repairs):
    for given in (messages, iter(messages)):
        repaired, count = sanitize_tool_pairs(given)
        assert repaired == expected
        assert count == repairs
        for message in repaired:
            if message in messages and message["role"] != "system":
                assert any(message is old for old in messages), "what needs no repair is the same object"


IN_FLIGHT = [
    # (what stands behind the open call, whether it still waits for its result)
    ("nothing", [], True),
    ("the user's words", [USER, USER], True),
    ("a reply", [REPLY], False),
    ("the user's words and a reply", [USER, REPLY], False),
    ("a reply and the user's words", [REPLY, USER], False),
    ("a whole group", [asks("b"), result("b")], False),
    ("an open group", [asks("b")], False),
]


@pytest.mark.parametrize(("what", "behind", "waits"), IN_FLIGHT, ids=[row[0] for row in IN_FLIGHT])
def test_only_the_last_group_may_stay_open(what, behind, waits):
    repaired, repairs = sanitize_tool_pairs([USER, asks("a"), *behind], in_flight=True)
    assert repaired == [USER, asks("a"), *([] if waits else [STUB]), *behind]
    assert repairs == (not waits)


def test_unless_told_otherwise_no_group_stays_open():
    assert pair_by_place([USER, asks("a")]) == ([USER, asks("a"), STUB], 1)


def test_only_an_assistants_calls_make_a_group():
    assert tool_groups([USER | {"tool_calls": [READ]}, result("a")]) == []


NEEDS = "messages[1]: every call needs an id of its own, the type 'function' and a name"
BAD_ARGUMENTS = READ | {"function": {"name": "f", "arguments": "{"}}
REFUSED = [
    # (what is wrong, the messages, a problem that is found, the rule by which the provider refuses it)
    ("a name that is no text", [USER | {"name": 5}], "messages[0]: name must be a text", "keys"),
    ("a result's id that is no text", [USER, asks("a"), result(5)], "messages[2]: tool_call_id must be a text", "orphan_result"),
    ("a refusal that is no text", [USER, REPLY | {"refusal": 5}], "messages[1]: refusal must be a text", "keys"),
    ("calls that are no list", [USER, REPLY | {"tool_calls": "abc"}], "messages[1]: tool_calls is empty: leave the key out", "tool_calls"),
    ("an unknown part beside calls", [USER, asks("a") | {"content": [{"type": "hologram"}]}, result("a")], "messages[1]: content must be a text, a list of known parts, or None beside tool calls", "content"),
    ("a call without an id", [USER, called({key: READ[key] for key in ("type", "function")}), result("a")], NEEDS, "tool_calls"),
    ("a call with an empty id", [USER, called(READ | {"id": ""}), result("")], NEEDS, "tool_calls"),
    ("a call without a type", [USER, called({key: READ[key] for key in ("id", "function")}), result("a")], NEEDS, "tool_calls"),
    ("a call without a function", [USER, called({"id": "a", "type": "function"}), result("a")], NEEDS, "tool_calls"),
    ("a call without a name", [USER, called(READ | {"function": {"arguments": "{}"}}), result("a")], NEEDS, "tool_calls"),
    ("a call with an empty name", [USER, called(READ | {"function": {"name": "", "arguments": "{}"}}), result("a")], NEEDS, "tool_calls"),
    ("a call with a number as its name", [USER, called(READ | {"function": {"name": 5, "arguments": "{}"}}), result("a")], NEEDS, "tool_calls"),
    ("one of two calls with broken arguments", [USER, called(BAD_ARGUMENTS, call("b")), result("a"), result("b")], "messages[1]: arguments must be the text of a JSON object", "arguments"),
    ("arguments that are no text", [USER, called(READ | {"function": {"name": "f", "arguments": {}}}), result("a")], "messages[1]: arguments must be the text of a JSON object", "arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "messages", "problem", "rule"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_a_strict_provider_refuses_is_said(what, messages, problem, rule):
    assert problem in validate_messages(messages)
    assert rule in [violation.rule for violation in rules.violations(messages)]


def test_a_name_or_a_refusal_of_any_form_can_be_sent():
    repaired, _ = sanitize_tool_pairs([USER, called(READ | {"function": {"name": 5, "arguments": "{}"}}), result("a")])
    assert rules.violations(repaired) == []
    assert has_text({"role": "assistant", "content": None, "refusal": 5})
