"""Chapter 8: groups stay whole, and what arrives broken is repaired and counted."""

from __future__ import annotations

import copy

import pytest

from course.provider import rules
from reference.ch01_agent_loop import to_wire
from tests.conftest import call

SYSTEM, USER = {"role": "system", "content": "s"}, {"role": "user", "content": "u"}


def asks(*ids, text=None):
    return {"role": "assistant", "content": text, "tool_calls": [call(call_id) for call_id in ids]}


def result(call_id, text="r"):
    return {"role": "tool", "tool_call_id": call_id, "content": text}


SOUND = [
    SYSTEM,
    USER,
    asks("a", "b"),
    result("b"),
    result("a"),
    asks("a"),
    result("a"),
    {"role": "assistant", "content": "x"},
]


def test_groups_are_an_assistant_with_its_results(chapter):
    assert chapter.tool_groups(SOUND) == [(2, 5), (5, 7)]
    assert chapter.tool_groups([SYSTEM, USER]) == []
    assert chapter.tool_groups([SYSTEM, USER, asks("a")]) == [(2, 3)], "a group without results is still one"


@pytest.mark.parametrize(
    ("index", "forward", "backward"),
    [(0, 0, 0), (2, 2, 2), (3, 5, 2), (4, 5, 2), (5, 5, 5), (6, 7, 5), (7, 7, 7), (8, 8, 8)],
)
def test_cuts_move_to_the_edges_of_groups(chapter, index, forward, backward):
    assert chapter._align_to_assistant_boundary(SOUND, index) == forward
    assert chapter._align_boundary_backward(SOUND, index) == backward


STUB = "[No result was recorded for this call: it did not run to its end.]"
BROKEN = [
    # (what is wrong, the messages behind system and user, roles or contents afterwards, repairs)
    ("a result without a call", [result("x")], [], 1),
    ("a call without a result", [asks("a")], ["call a", "a " + STUB], 1),
    ("one of three is missing", [asks("a", "b", "c"), result("b")], ["call a b c", "b r", "a " + STUB, "c " + STUB], 2),
    ("a result twice", [asks("a"), result("a", "1"), result("a", "2")], ["call a", "a 1"], 1),
    ("a result before its call", [result("a"), asks("a")], ["call a", "a " + STUB], 2),
    ("an id again, unanswered", [asks("a"), result("a", "1"), asks("a")], ["call a", "a 1", "call a", "a " + STUB], 1),
    (
        "ids of a relay repeat",
        [asks("a"), result("a", "1"), asks("a"), result("a", "2")],
        ["call a", "a 1", "call a", "a 2"],
        0,
    ),
    (
        "a user speaks in between",
        [asks("a"), {"role": "user", "content": "wait"}, result("a")],
        ["call a", "a r", "wait"],
        1,
    ),
    (
        "a tool posts a text",
        [asks("a", "b"), result("a"), {"role": "assistant", "content": "!"}, result("b")],
        ["call a b", "a r", "b r", "!"],
        1,
    ),
    (
        "an id twice in a message",
        [asks("a", "a"), result("a", "1"), result("a", "2")],
        ["call a a#2", "a 1", "a#2 2"],
        2,
    ),
    (
        "a result of a later group",
        [asks("a"), asks("b"), result("b"), result("a")],
        ["call a", "a r", "call b", "b r"],
        1,
    ),
    ("an assistant that says nothing", [{"role": "assistant", "content": ""}], ["[The model gave an empty reply.]"], 1),
    ("an empty list of calls", [{"role": "assistant", "content": "x", "tool_calls": []}], ["x"], 1),
]


@pytest.mark.parametrize(("what", "messages", "afterwards", "repairs"), BROKEN, ids=[row[0] for row in BROKEN])
def test_repair(chapter, what, messages, afterwards, repairs):
    def shown(message):
        if message.get("tool_calls"):
            return "call " + " ".join(made["id"] for made in message["tool_calls"])
        return (message["tool_call_id"] + " " if message["role"] == "tool" else "") + message["content"]

    before = copy.deepcopy(messages)
    repaired, count = chapter.sanitize_tool_pairs([SYSTEM, USER, *messages])
    assert [shown(message) for message in repaired[2:]] == afterwards
    assert count == repairs
    assert messages == before, "the caller's messages were changed"


def test_later_system_messages_are_folded_into_the_first(chapter):
    repaired, count = chapter.sanitize_tool_pairs([SYSTEM, USER, {"role": "system", "content": "be brief"}, USER])
    assert repaired == [{"role": "system", "content": "s\n\nbe brief"}, USER, USER]
    assert count == 1
    repaired, count = chapter.sanitize_tool_pairs([USER, SYSTEM])
    assert repaired == [SYSTEM, USER]
    assert count == 1


def test_an_open_last_group_waits_for_its_results_in_flight(chapter):
    messages = [SYSTEM, USER, asks("a"), result("a"), asks("b", "c"), result("c")]
    repaired, count = chapter.sanitize_tool_pairs(messages, in_flight=True)
    assert repaired == messages
    assert count == 0
    late = [*repaired, USER, result("b")]
    assert chapter.validate_messages(to_wire(chapter.sanitize_tool_pairs(late)[0])) == []


@pytest.mark.parametrize(
    ("arguments", "repaired"),
    [('{"path": "a"}', '{"path": "a"}'), ('{"pa', '{"unparsed": "{\\"pa"}'), (None, "{}"), ({"k": "é"}, '{"k": "é"}')],
)
def test_arguments_become_json_objects_and_lose_nothing(chapter, arguments, repaired):
    made = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    messages, _ = chapter.sanitize_tool_pairs([USER, {"role": "assistant", "tool_calls": [made]}, result("a")])
    assert messages[1]["tool_calls"][0]["function"]["arguments"] == repaired


ACCEPTED = [
    ("a sound history", SOUND),
    ("no system message", [USER]),
    ("a developer's message is a system message", [{"role": "developer", "content": "s"}, USER]),
    ("two groups in a row with the same id", [USER, asks("a"), result("a"), asks("a"), result("a")]),
    ("results in another order", [USER, asks("a", "b"), result("b"), result("a")]),
    ("a user behind results", [USER, asks("a"), result("a"), USER]),
    ("an empty user text", [{"role": "user", "content": ""}]),
    ("known parts", [{"role": "user", "content": [{"type": "text", "text": "t"}]}]),
]
REFUSED = [
    ("nothing but a system message", [SYSTEM], "user message"),
    ("a second system message", [SYSTEM, USER, SYSTEM], "system message must be the first"),
    ("an assistant first", [SYSTEM, {"role": "assistant", "content": "x"}], "must be a user's"),
    ("two users in a row", [USER, USER], "two user messages"),
    ("two assistants in a row", [USER, {"role": "assistant", "content": "x"}, asks("a"), result("a")], "two assistant"),
    ("a result without a call", [USER, result("a")], "without a call"),
    ("a call without a result", [USER, asks("a")], "no result"),
    ("a result too late", [USER, asks("a"), USER, result("a")], "without a call"),
    ("a result twice", [USER, asks("a"), result("a"), result("a")], "answers no open call"),
    ("an id twice in a message", [USER, asks("a", "a"), result("a"), result("a")], "id of its own"),
    ("an empty list of calls", [USER, {"role": "assistant", "content": "x", "tool_calls": []}], "empty"),
    ("broken arguments", [USER, {"role": "assistant", "content": "x", "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{"}}]}, result("a")], "JSON object"),
    ("an assistant that says nothing", [USER, {"role": "assistant", "content": " "}], "text or tool calls"),
    ("no content", [{"role": "user", "content": None}], "content must be"),
    ("an unknown part", [{"role": "user", "content": [{"type": "hologram"}]}], "content must be"),
    ("an unknown key", [{"role": "user", "content": "x", "mood": "good"}], "unknown keys ['mood']"),
    ("an unknown role", [USER, {"role": "critic", "content": "x"}], "unknown role"),
    ("half a surrogate pair", [{"role": "user", "content": "\ud83d"}], "UTF-8"),
    ("NUL in an argument", [USER, {"role": "assistant", "content": "x", "tool_calls": [call("a", tool="f\0")]}, result("a")], "NUL"),
]  # fmt: skip


@pytest.mark.parametrize(("why", "messages"), ACCEPTED, ids=[row[0] for row in ACCEPTED])
def test_what_a_strict_provider_takes(chapter, why, messages):
    assert chapter.validate_messages(messages) == []
    assert rules.violations(messages) == []


@pytest.mark.parametrize(("why", "messages", "problem"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_a_strict_provider_refuses(chapter, why, messages, problem):
    problems = chapter.validate_messages(messages)
    assert any(problem in text for text in problems), problems
    assert rules.violations(messages), "the provider's own table must refuse it too"
