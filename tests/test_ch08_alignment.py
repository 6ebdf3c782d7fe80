"""Chapter 8: groups stay whole, and what arrives broken is repaired and counted."""

from __future__ import annotations

import copy

import pytest

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


@pytest.mark.exercise("8.1")
@pytest.mark.parametrize(
    ("messages", "index", "cut"),
    [
        (SOUND, 0, 0),
        (SOUND, 2, 2),  # in front of a group: nothing to do
        (SOUND, 3, 5),  # behind a call: past its results
        (SOUND, 4, 5),  # between two results
        (SOUND, 5, 5),  # between two groups
        (SOUND, 6, 7),
        (SOUND, 8, 8),  # the end of the list is a cut too
        (SOUND[:7], 6, 7),  # results up to the end of the list
        ([], 0, 0),
    ],
)
def test_the_heads_cut_moves_forward(chapter, messages, index, cut):
    assert chapter._align_to_assistant_boundary(messages, index) == cut, f"messages[{cut}]: the cut belongs here"


@pytest.mark.exercise("8.2")
@pytest.mark.parametrize(
    ("messages", "index", "cut"),
    [
        (SOUND, 0, 0),
        (SOUND, 2, 2),  # in front of a group: nothing to do
        (SOUND, 3, 2),  # behind a call: back to it
        (SOUND, 4, 2),  # between two results: back to the call that both answer
        (SOUND, 5, 5),  # between two groups
        (SOUND, 6, 5),
        (SOUND, 7, 7),  # behind a whole group, in front of a text
        (SOUND, 8, 8),  # the end of the list is a cut too
        (SOUND[:7], 7, 7),  # also where a result is the last message
        ([result("a"), USER], 0, 0),  # a result without a call: not past the beginning
        ([], 0, 0),
    ],
)
def test_the_tails_cut_moves_backward(chapter, messages, index, cut):
    assert chapter._align_boundary_backward(messages, index) == cut, f"messages[{cut}]: the cut belongs here"


@pytest.mark.exercise("8.3")
@pytest.mark.parametrize(
    ("messages", "groups"),
    [
        (SOUND, [(2, 5), (5, 7)]),  # two groups, one behind the other
        ([SYSTEM, USER], []),
        ([SYSTEM, USER, asks("a")], [(2, 3)]),  # a group without results is still one
        ([SYSTEM, USER, asks("a"), result("a")], [(2, 4)]),  # a group at the end of the list
        ([USER, asks("a"), USER, result("a")], [(1, 2)]),  # a result that stands apart is no part of it
        ([USER, {"role": "assistant", "content": "x", "tool_calls": []}], []),  # an empty list is no call
        ([USER, {"role": "assistant", "content": "x", "tool_calls": None}, USER], []),
        ([result("a"), USER], []),  # a result without a call makes no group
        ([], []),
    ],
)
def test_groups_are_an_assistant_with_its_results(chapter, messages, groups):
    assert chapter.tool_groups(messages) == groups


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
    ("an assistant and nothing before it", [{"role": "assistant", "content": "x"}, USER], "must be a user's"),
    ("a result and nothing before it", [result("a"), USER], "without a call"),
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


@pytest.mark.exercise("8.4")
@pytest.mark.parametrize(("why", "messages"), ACCEPTED, ids=[row[0] for row in ACCEPTED])
def test_what_a_strict_provider_takes(chapter, why, messages):
    assert chapter.validate_messages(messages) == [], "a strict provider takes this list"


@pytest.mark.exercise("8.4")
@pytest.mark.parametrize(("why", "messages", "problem"), REFUSED, ids=[row[0] for row in REFUSED])
def test_what_a_strict_provider_refuses(chapter, why, messages, problem):
    problems = chapter.validate_messages(messages)
    assert problem in " | ".join(problems), f"a strict provider refuses it: {why}"


@pytest.mark.exercise("8.4")
def test_every_problem_is_named_with_its_position(chapter):
    messages = [SYSTEM, USER, USER, asks("a"), {"role": "assistant", "content": "x", "mood": "good"}]
    assert sorted(problem.partition(":")[0] for problem in chapter.validate_messages(messages)) == [
        "messages[2]",  # two users
        "messages[3]",  # no result
        "messages[4]",  # an unknown key
        "messages[4]",  # two assistants
    ]


def test_the_providers_own_table_says_the_same():
    from course.provider import rules

    assert [why for why, messages in ACCEPTED if rules.violations(messages)] == []
    assert [why for why, messages, _ in REFUSED if not rules.violations(messages)] == []
