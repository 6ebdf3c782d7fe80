"""Guards that stand between chapters: what a kept message goes through, where the cuts fall, what base64 costs."""

from __future__ import annotations

import base64
import json
import random
from types import SimpleNamespace

import pytest

from course.provider import rules
from reference.ch01_agent_loop import to_wire
from reference.ch02_tools import Tool, ToolRegistry
from reference.ch03_sessions import SessionStore
from reference.ch04_prompts import PromptBuilder
from reference.ch05_budget import (
    TokenMeter,
    estimate_message_tokens,
    estimate_tokens,
    should_compress,
    threshold_tokens,
)
from reference.ch06_prune import PLACEHOLDER_START, prune_old_tool_results
from reference.ch07_boundaries import (
    BRIDGE_ASSISTANT,
    BRIDGE_USER,
    SUMMARY_END,
    SUMMARY_PREFIX,
    find_anchors,
    find_boundaries,
    find_lines,
    is_bridge,
    is_generated,
    is_request,
    is_summary,
    is_visible_reply,
)
from reference.ch08_alignment import (
    STUB_RESULT,
    pair_by_place,
    sanitize_tool_pairs,
    tool_groups,
    validate_messages,
)
from reference.ch09_summary import (
    AGAIN,
    HEADINGS,
    INSTRUCTION,
    SUMMARY_TEMPLATE,
    SummaryError,
    render_turns,
    summarize_middle,
    summary_budget,
    summary_message,
    summary_text,
)
from reference.ch10_compress import (
    COMPACTION_NOTE,
    CompressingAgent,
    CompressionReport,
    compress,
    find_cut,
    prune_read,
    with_room,
)
from reference.ch11_stuck import (
    CompressionStuckError,
    StuckAwareAgent,
    clip_newest_results,
    compress_or_raise,
    must_stay,
)
from reference.ch12_task_state import (
    TASK_TOOLS,
    TaskAgent,
    TaskState,
    task_set_goal,
    task_tool_schemas,
    todo_write,
)
from reference.messages import (
    EMPTY_REPLY,
    clean_arguments,
    clean_message,
    clip,
    has_text,
    picture_count,
    text_length,
    text_of,
)
from tests.conftest import call, provider_of

SYSTEM, USER = {"role": "system", "content": "s"}, {"role": "user", "content": "u"}
BIG = "data " * 400
BLOB = base64.b64encode(random.Random(7).randbytes(30_000)).decode()


def summarize(turns, previous):
    return f"## Goal\n{len(turns)} turns"


def asks(*ids, tool="read_file"):
    return {"role": "assistant", "content": None, "tool_calls": [call(call_id, tool=tool) for call_id in ids]}


def result(call_id, text="r"):
    return {"role": "tool", "tool_call_id": call_id, "content": text}


WEIGHED = [
    ("base64 in a text", result("a", "data:image/png;base64," + BLOB), len(BLOB)),
    ("base64 between words", result("a", "word " * 4_000 + BLOB), len(BLOB) + 5_000),
    ("base64 in an argument", {"role": "assistant", "content": None, "tool_calls": [call("c", BLOB)]}, len(BLOB)),
    ("words", result("a", "word " * 8_000), 10_000),
    ("one letter over and over", result("a", "x" * 40_000), 10_000),
    ("a long line of JSON", result("a", '{"key":"value","n":[1,2,3]},' * 1_000), 7_000),
    ("a short text is not looked through", result("a", BLOB[:4_000]), 1_000),
]


@pytest.mark.parametrize(("what", "message", "tokens"), WEIGHED, ids=[row[0] for row in WEIGHED])
def test_a_long_run_without_a_break_costs_a_token_a_character(what, message, tokens):
    assert estimate_message_tokens(message) == pytest.approx(tokens, rel=0.03)


@pytest.mark.parametrize(
    "function", [{}, {"name": "f"}, {"name": "f", "arguments": None}, {"name": None, "arguments": 3}]
)
def test_a_broken_call_costs_no_more_than_what_is_sent_of_it(function):
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "a", "function": function}]}
    assert estimate_message_tokens(message) <= estimate_message_tokens(clean_message(message))


def test_base64_is_clipped_by_what_it_costs():
    clipped = clip_newest_results([USER, asks("a"), result("a", BLOB)], 6_000)
    assert 5_000 < estimate_message_tokens(clipped[2]) <= 6_000


def test_tools_on_the_never_prune_list_keep_their_text():
    messages = [USER, asks("a", tool="ask_user"), result("a", BIG), asks("b"), result("b", BIG), asks("c"), result("c")]
    pruned = prune_old_tool_results(messages, keep_recent=0, never_prune=["ask_user"])
    assert pruned[2] is messages[2]
    assert pruned[4]["content"].startswith("[Old tool output cleared")
    kept, _ = compress(messages, summarize, keep_recent=0, limit=800, never_prune=["ask_user"])
    assert kept[2] is messages[2]


def test_a_placeholder_never_makes_a_result_longer():
    messages = [USER, asks("a"), result("a", "x" * 50)]
    assert prune_old_tool_results(messages, keep_recent=0, min_chars=10)[2] is messages[2]


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


@pytest.mark.parametrize(
    ("odd", "line"), [(5, '-> unknown {"unparsed": "5"}'), (None, "-> unknown {}"), ({}, "-> unknown {}")]
)
def test_what_stands_in_the_place_of_a_call_is_quoted(odd, line):
    assert list(render_turns([called(odd)])) == [f"[assistant]\n{line}"]


def test_calls_of_the_older_form_become_ours():
    """One call a message, without an id, and its result in a role of its own."""
    older = [USER]
    for number in range(3):
        function = {"name": "read_file", "arguments": f'{{"path": "{number}.md"}}'}
        older += [
            {"role": "assistant", "content": None, "function_call": function},
            {"role": "function", "name": "read_file", "content": f"text {number}"},
        ]
    repaired, repairs = sanitize_tool_pairs(older)
    assert rules.violations(to_wire(repaired)) == []
    assert [message["content"] for message in repaired if message["role"] == "tool"] == ["text 0", "text 1", "text 2"]
    assert [m["tool_calls"][0]["function"] for m in repaired[1::2]] == [m["function_call"] for m in older[1::2]]
    assert repairs >= 6
    _, report = compress(older * 20, summarize, limit=300, tail_token_budget=60)
    assert report.outcome == "compressed"


def test_what_stands_in_an_unknown_role_is_handed_to_the_summariser():
    """It is no request of the user's, but it was said."""
    seen = []

    def keeps(turns, previous):
        seen.extend(turns)
        return "## Goal\nall"

    told = {"role": "ipython", "content": "the needle " + "hay " * 300}
    compress(
        [USER, REPLY, told, REPLY, USER, asks("a"), result("a"), asks("b"), result("b")], keeps, tail_token_budget=10
    )
    assert any("needle" in str(message.get("content")) for message in seen)


def test_later_system_messages_are_folded_in_one_pass():
    many = [{"role": "system", "content": f"rule {number}"} for number in range(3_000)]
    repaired, repairs = sanitize_tool_pairs([*many[:1], USER, *many[1:]])
    assert repaired[0]["content"] == "\n\n".join(message["content"] for message in many)
    assert (len(repaired), repairs) == (2, 2_999)


@pytest.mark.parametrize("calls", [7, {"id": "a"}, "abc", [None], ["a"], [{"id": ["a"]}], [{"id": "a", "function": 3}]])
def test_calls_of_any_form_are_mended(calls):
    messages = [USER, {"role": "assistant", "content": "x", "tool_calls": calls}, result("a"), USER]
    estimate_tokens(messages)
    assert validate_messages(messages) != []
    kept, report = compress(messages, summarize, limit=10_000)
    assert rules.violations(to_wire(kept)) == []
    assert report.repairs > 0


def test_a_broken_call_can_be_rendered_for_the_summariser():
    turn = {
        "role": "assistant",
        "content": {"odd": 1},
        "tool_calls": [{"id": "a"}, {"id": "b", "function": {"name": "f", "arguments": None}}],
    }
    text = "\n".join(render_turns([turn]))
    assert '{"odd": 1}' in text
    assert "-> unknown {}" in text
    assert "-> f {}" in text


class Client:
    """A client whose model says one thing for ever."""

    def __init__(self, text):
        self.text, self.requests = text, []
        self.chat = self.completions = self

    def create(self, **request):
        self.requests.append(request["messages"][0]["content"])
        choice = SimpleNamespace(message=SimpleNamespace(content=self.text), finish_reason="stop")
        return SimpleNamespace(choices=[choice])


def test_an_over_long_reply_is_refused():
    client = Client("\n".join(HEADINGS) + "x" * 900)
    assert summarize_middle([USER], client, "m", max_tokens=200)
    with pytest.raises(SummaryError, match="too long"):
        summarize_middle([USER], client, "m", max_tokens=100)


def test_the_first_heading_is_enough():
    assert summarize_middle([USER], Client("## Goal\nall"), "m") == "## Goal\nall"


def test_secrets_are_taken_out_of_requests_and_replies():
    client = Client("## Goal\nuse hunter2")
    text = summarize_middle(
        [{"role": "user", "content": "the word is hunter2"}], client, "m", redact=lambda t: t.replace("hunter2", "***")
    )
    assert text == "## Goal\nuse ***"
    assert "the word is ***" in client.requests[0]


def test_the_group_that_the_model_has_not_seen_stays():
    """Also when the user spoke behind it, so that it is not at the end."""
    messages = [
        SYSTEM,
        USER,
        *[m for i in range(6) for m in (asks(f"c{i}"), result(f"c{i}", BIG))],
        {"role": "user", "content": "and? " * 200},
    ]
    kept, report = compress(messages, summarize, tail_token_budget=50)
    assert report.outcome == "compressed"
    assert messages[-3] in kept
    assert messages[-2] in kept


def test_no_anchor_is_in_the_head(conversation):
    messages = [*conversation(results=[BIG] * 6)]
    assert find_cut(messages, 3, 600).head_end == 1, "the only request would be in front of the summary"


def test_a_head_that_is_too_big_is_given_up():
    messages = [SYSTEM, {"role": "user", "content": BIG}, {"role": "assistant", "content": "done"}, USER]
    messages += [m for i in range(6) for m in (asks(f"c{i}"), result(f"c{i}", BIG))]
    assert find_cut(messages, 2, 600).head_end == 2
    assert find_cut(messages, 2, 200).head_end == 1


def test_head_protection_ends_once_a_summary_is_there():
    messages = [SYSTEM, {"role": "user", "content": "first"}, {"role": "assistant", "content": "done"}, USER]
    messages += [m for i in range(6) for m in (asks(f"c{i}"), result(f"c{i}", BIG))]
    once, _ = compress(messages, summarize, protect_first=2, tail_token_budget=600)
    assert messages[1] in once
    grown = [*once, *[m for i in range(6) for m in (asks(f"d{i}"), result(f"d{i}", BIG))]]
    twice, report = compress(grown, summarize, protect_first=2, tail_token_budget=600)
    assert report.outcome == "compressed"
    assert messages[1] not in twice


def test_the_tail_does_not_reach_across_an_old_summary():
    messages = [SYSTEM, USER, asks("a"), result("a", BIG), summary_message("old"), USER, asks("b"), result("b")]
    cut = find_cut(messages, 3, 100_000)
    assert cut.tail_start == 5


BROKEN = {"id": "k", "type": "function", "function": {"name": "f", "arguments": '{"pa'}}
ODD = [{"role": "assistant", "content": None, "tool_calls": [BROKEN]}, result("k", "nul \x00 here")]


def test_what_is_kept_is_mended(conversation):
    messages = [*conversation(results=[BIG] * 6), *ODD]
    kept, report = compress(messages, summarize, tail_token_budget=100)
    assert report.outcome == "compressed"
    assert rules.violations(to_wire(kept)) == []
    assert report.repairs == 2


def test_a_list_that_is_not_compressed_is_mended(conversation):
    kept, report = compress([*conversation(results=["r"]), *ODD], summarize, limit=10_000)
    assert report.outcome == "unchanged"
    assert rules.violations(to_wire(kept)) == []
    assert report.repairs == 2


def test_what_is_summarised_is_handed_over_as_it_was(conversation):
    """The summariser reads results in full length: what pruning cleared it could not tell about."""
    seen = []
    messages = conversation(results=[BIG] * 8)
    compress(messages, lambda turns, previous: seen.extend(turns) or "## Goal", tail_token_budget=100, limit=300)
    assert sum(turn.get("content") == BIG for turn in seen) == 7
    assert all(any(turn is message for message in messages) for turn in seen)


def test_the_last_resort_gets_the_list_below_the_limit():
    messages = [SYSTEM, {"role": "user", "content": "u" * 3_000}, asks("a"), result("a", BIG)]
    kept, report = compress_or_raise(messages, summarize, limit=1_000, tail_token_budget=800)
    assert estimate_tokens(kept) == report.after < 1_000
    assert (report.outcome, report.clipped) == ("pruned", 1)
    assert report.reason.startswith("below the limit with clipped results")


def test_a_stuck_error_says_which_message_fills_the_window():
    messages = [SYSTEM, {"role": "user", "content": "word " * 8_000}, asks("a"), result("a")]
    with pytest.raises(CompressionStuckError, match="the largest message is number 1, role user, 10,004 tokens"):
        compress_or_raise(messages, summarize, limit=1_000)


def test_a_summary_stands_once_in_a_list_of_many_thousand():
    """The short ways for long lists give the same as the long ones."""
    messages = [SYSTEM, USER, *[m for i in range(3_000) for m in (asks(f"c{i}"), result(f"c{i}", "x" * (i % 600)))]]
    kept, report = compress(messages, summarize, tail_token_budget=2_000, limit=4_000)
    assert report.outcome == "compressed"
    assert report.before == estimate_tokens(messages)
    assert sum(map(is_summary, kept)) == 1
    assert rules.violations(to_wire(kept)) == []
    assert report.after == estimate_tokens(kept) < 4_000


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


def test_a_summary_that_is_longer_than_its_middle_is_refused_although_pruning_saved_much(conversation):
    messages = conversation(results=["r", *[BIG] * 6])
    budget = estimate_tokens(prune_old_tool_results(messages, keep_recent=1)[4:])
    assert find_cut(prune_old_tool_results(messages, keep_recent=1), 1, budget).tail_start == 4
    result, report = compress(
        messages, lambda turns, previous: "word " * 100, protect_first=1, tail_token_budget=budget, keep_recent=1
    )
    assert report.outcome == "pruned"
    assert "not smaller" in report.reason
    assert len([message for message in result if message["role"] == "tool"]) == 7


def test_without_a_system_prompt_nothing_is_kept_in_its_place():
    messages = [
        USER,
        *[m for i in range(6) for m in (asks(f"c{i}"), result(f"c{i}", BIG))],
        {"role": "user", "content": "now"},
    ]
    assert find_cut(messages, 0, 100).head_end == 0


def test_every_turn_of_the_middle_but_the_anchors_is_handed_over():
    """Also the one behind an anchor and the one behind an old summary."""
    seen = []
    groups = [m for i in range(4) for m in (asks(f"c{i}"), result(f"c{i}", BIG))]
    messages = [
        SYSTEM,
        USER,
        summary_message("old"),
        USER | {"content": "go on"},
        *groups,
        {"role": "assistant", "content": "reply"},
    ]
    messages += [
        {"role": "user", "content": "last"},
        *[m for i in range(4) for m in (asks(f"d{i}"), result(f"d{i}", BIG))],
    ]
    compress(messages, lambda turns, previous: seen.extend(turns) or "## Goal", tail_token_budget=100)
    kept = {"reply", "last", "s"}
    expected = [m for m in messages[1:-2] if m.get("content") not in kept and not is_summary(m)]
    assert [id(turn) for turn in seen] == [id(message) for message in expected]


@pytest.mark.parametrize("role", ["tool", "system", "assistant"])
def test_only_a_users_line_is_a_users_bridge(role):
    assert not is_generated({"role": role, "content": BRIDGE_USER})


def test_results_that_were_not_read_are_not_pruned_when_the_user_spoke_behind_them():
    group = [asks("a", "b", "c"), result("a", BIG), result("b", BIG), result("c", BIG)]
    messages = [SYSTEM, USER, asks("z"), result("z", BIG), *group, {"role": "user", "content": "and?"}]
    pruned = prune_read(messages, 0)
    assert pruned[4:] == messages[4:]
    assert pruned[3] != messages[3]


def called(*calls, **more):
    return {"role": "assistant", "content": None, "tool_calls": list(calls), **more}


TEXT_PART = {"type": "text", "text": "t"}
REPLY = {"role": "assistant", "content": "x"}
READ = call("a")
UNKNOWN = {"name": "unknown", "arguments": "{}"}
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


def test_the_tail_begins_with_its_call_also_where_the_list_does():
    assert find_cut([asks("a"), result("a"), REPLY], 0, 10).tail_start == 0


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


def sized(role, tokens, **more):
    """A message that is estimated at so many tokens."""
    return {"role": role, "content": "x" * 4 * (tokens - 4), **more}


def groups(count, text=BIG, name="c"):
    """So many groups of one call and one result."""
    return [m for i in range(count) for m in (asks(f"{name}{i}"), result(f"{name}{i}", text))]


def never(turns, previous):
    raise AssertionError("a model was called")


BRIDGE = {"role": "assistant", "content": "[generated] No reply was recorded.", "_generated": "bridge"}
HEAD = [sized("system", 500), sized("user", 100), USER, *groups(2)]
CUTS = [
    # (what is cut, the messages, protect_first, tail_token_budget, (head_end, tail_start))
    ("the prompt stays in the head", [SYSTEM, USER, *groups(2)], 0, 10, (1, 4)),
    ("an assistant's text is not the end of the head", [SYSTEM, USER, REPLY, USER, USER, REPLY, USER, *groups(2)], 3, 600, (2, 9)),
    ("a head as big as the budget", HEAD, 2, 100, (2, 5)),
    ("a head that is one token bigger", HEAD, 2, 99, (1, 5)),
    ("a head that is the whole list", [SYSTEM, asks("a"), result("a")], 3, 9_000, (3, 3)),
    ("calls that are on their way", [SYSTEM, USER, *groups(2), asks("z")], 0, 10, (1, 6)),
    ("calls on their way, and nothing before them", [asks("a"), sized("user", 500), USER], 0, 10, (0, 0)),
    ("a list without an assistant", [SYSTEM, sized("user", 500), sized("user", 500), USER], 0, 10, (1, 3)),
    ("a bridge is no summary", [SYSTEM, USER, BRIDGE, USER, *groups(1)], 0, 9_000, (1, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("what", "messages", "head", "budget", "cuts"), CUTS, ids=[row[0] for row in CUTS])
def test_where_head_and_tail_end(what, messages, head, budget, cuts):
    cut = find_cut(messages, head, budget)
    assert (cut.head_end, cut.tail_start) == cuts


@pytest.mark.parametrize(("tokens", "tail_start"), [(10_000, 1), (10_001, 2)])
def test_a_tail_may_have_twenty_thousand_tokens(tokens, tail_start):
    messages = [sized("user", 30_000, name="old"), sized("user", tokens, name="new"), sized("user", 10_000)]
    assert find_boundaries(messages, 0) == (0, tail_start)
    assert find_cut(messages, 0).tail_start == tail_start
    kept, _ = compress(messages, summarize, protect_first=0)
    assert (messages[1] in kept) == (tail_start == 1)


def test_a_head_has_three_messages():
    messages = [SYSTEM, *[USER | {"content": text} for text in "abcd"], *groups(3)]
    kept, report = compress(messages, summarize, tail_token_budget=600)
    assert report.outcome == "compressed"
    assert [message["content"] for message in kept if message["content"] in list("abcd")] == ["a", "b", "d"]


def test_three_results_are_kept_and_those_of_up_to_two_hundred_characters():
    messages = [USER, *[m for i in range(6) for m in (asks(str(i)), result(str(i), "x" * (200 + (i == 1 or i > 2))))]]
    for given in (messages, iter(messages)):
        kept, report = compress(given, never, limit=100_000)
        assert [i for i, message in enumerate(kept) if message != messages[i]] == [4]
        assert report == CompressionReport(
            "pruned", "below the limit without a summary", estimate_tokens(messages), estimate_tokens(kept),
            estimate_tokens(kept), repairs=0, summarised=0, summary_failed=False, clipped=0,
        )  # fmt: skip
    kept, _ = compress(messages, never, limit=100_000, min_chars=201, keep_recent=0)
    assert kept == messages


@pytest.mark.parametrize("messages", [[SYSTEM, USER], [SYSTEM, USER, *groups(6)]], ids=["no results", "results"])
def test_one_token_below_the_limit_is_below_it(messages):
    size = estimate_tokens(prune_read(messages, 3))
    kept, report = compress(messages, never, limit=size + 1, tail_token_budget=10)
    assert (estimate_tokens(kept), report.reason) == (size, "below the limit without a summary")
    _, report = compress(messages, summarize, limit=size, tail_token_budget=10)
    assert report.reason != "below the limit without a summary"


def test_a_summary_has_to_be_one_token_smaller_than_what_it_replaces():
    """To the token: with nothing to bridge, the list is then one token smaller too."""
    messages = [SYSTEM, USER, asks("a"), result("a", "r" * 400), {"role": "user", "content": "go on"}, *groups(1)]
    replaced, tail = estimate_tokens(messages[2:4]), estimate_tokens(messages[5:])
    for size, outcome in ((replaced - 1, "compressed"), (replaced, "unchanged")):
        kept, report = compress(messages, told(size), protect_first=2, tail_token_budget=tail)
        assert report.outcome == outcome
        assert report.after == estimate_tokens(kept) == report.before - (outcome == "compressed")
    assert report.reason == NO_GAIN.format(replaced, replaced)
    assert report.summary_failed


def test_the_report_of_a_summary_says_all_that_was_done():
    messages = [SYSTEM, USER, result("x"), *groups(3), result("y")]
    kept, report = compress(messages, summarize, tail_token_budget=600)
    sound = [message for message in messages if message.get("tool_call_id") not in ("x", "y")]
    assert report == CompressionReport(
        "compressed", "the middle was summarised", estimate_tokens(sound), estimate_tokens(kept),
        estimate_tokens(sound), repairs=2, summarised=4, summary_failed=False, clipped=0,
    )  # fmt: skip


def test_nothing_to_compress_is_no_failure_of_the_summary():
    _, report = compress([SYSTEM, USER], never)
    assert report == CompressionReport("unchanged", "nothing to compress between head and tail", 8, 8, 8)


@pytest.mark.parametrize("budget", [500, 2_000, 9_000])
def test_a_tail_of_many_small_results_is_counted_as_it_is_pruned(budget):
    """The tail is as long as its pruned results allow, however many of them there are."""
    messages = [SYSTEM, USER, *groups(300, "x" * 900)]
    long_way = find_cut(prune_read(messages, 3), 2, budget)
    _, report = compress(messages, summarize, protect_first=2, tail_token_budget=budget)
    assert report.summarised == long_way.tail_start - long_way.head_end - len(long_way.anchors)


class Teller:
    """A summariser that notes what it was given and says one thing."""

    def __init__(self, text="## Goal\nall"):
        self.text, self.turns, self.previous = text, [], []

    def __call__(self, turns, previous):
        self.turns.append(turns)
        self.previous.append(previous)
        return self.text


def test_generated_lines_in_head_and_tail_move_no_turn_into_the_middle():
    empty = {"role": "assistant", "content": "", "_generated": "empty reply"}
    head = [SYSTEM, USER, empty, USER | {"content": "again"}]
    tail = [BRIDGE, {"role": "user", "content": "now"}, *groups(1, name="t")]
    messages, teller = [*head, *groups(3), REPLY, *tail], Teller()
    _, report = compress(messages, teller, protect_first=4, tail_token_budget=550)
    assert teller.turns == [messages[4:10]]
    assert report.summarised == 6


def test_old_summaries_are_handed_over_in_their_order_also_right_behind_the_prompt():
    messages = [SYSTEM, summary_message("one"), USER, *groups(2), REPLY, summary_message("two"), USER, *groups(2)]
    teller = Teller()
    compress(messages, teller, tail_token_budget=10)
    assert teller.previous == ["one\n\ntwo"]


MIDDLE = [asks("a"), result("a", "r" * 400)]
NO_GAIN = "a summary of {:,} tokens is not smaller than the {:,} tokens that it replaces"


def told(tokens):
    """A summariser whose message costs so many tokens."""
    return Teller("s" * 4 * (tokens - estimate_message_tokens(summary_message(""))))


def test_a_summary_that_needs_more_bridges_than_it_saves_is_refused():
    messages = [SYSTEM, USER, *MIDDLE, REPLY, {"role": "user", "content": "go on"}, *groups(1)]
    size = estimate_tokens(messages)
    for tokens, outcome in ((9, "compressed"), (8, "unchanged")):
        summary = told(estimate_tokens(MIDDLE) - tokens)
        _, report = compress(messages, summary, protect_first=2, tail_token_budget=600)
        assert report.outcome == outcome, "the bridge between summary and reply costs eight tokens"
    assert report.reason == NO_GAIN.format(size, size)


def test_a_summary_has_to_be_smaller_than_what_pruning_leaves():
    messages = [SYSTEM, USER, *groups(6)]
    pruned = estimate_tokens(prune_read(messages, 0))
    settings = {"protect_first": 2, "keep_recent": 0, "tail_token_budget": 600, "limit": 100}
    kept, report = compress(messages, told(400), **settings)
    assert (report.outcome, estimate_tokens(kept)) == ("pruned", pruned)
    assert report.reason.startswith("a summary of")
    kept, report = compress(messages, told(60), **settings)
    assert report.reason == "the middle was summarised"
    assert report.after == estimate_tokens(kept) < pruned == report.after_pruning


def test_a_summary_has_to_be_smaller_than_the_list_before_its_bridges():
    messages = [SYSTEM, USER, USER, *MIDDLE, {"role": "user", "content": "go on"}, *groups(1)]
    _, report = compress(messages, told(estimate_tokens(MIDDLE) - 1), protect_first=3, tail_token_budget=600, limit=600)
    assert report.outcome == "unchanged"
    assert report.summary_failed


def test_a_call_without_a_result_is_one_repair_also_in_what_is_kept():
    messages = [SYSTEM, USER, *groups(4), asks("z")]
    kept, report = compress(messages, summarize, tail_token_budget=100)
    assert report.outcome == "compressed"
    assert kept[-1]["content"] == STUB_RESULT
    assert report.repairs == 1


def agent_of(client=None, **settings):
    return CompressingAgent(client, "m", ToolRegistry(), context_length=10_000, summarize=summarize, **settings)


def test_the_agents_settings_are_shares_of_its_window():
    agent = agent_of()
    agent.messages = [SYSTEM, USER]
    shares = {"limit": 8_500, "prune_limit": 4_000, "tail_token_budget": 1_000}
    assert agent.settings() == shares | {"protect_first": 3, "keep_recent": 3}
    agent.meter.report(2_000, 1_000)
    assert agent.settings() == {key: value // 2 for key, value in shares.items()} | {
        "protect_first": 3,
        "keep_recent": 3,
    }
    agent = agent_of(threshold=0.4, target_ratio=0.5, protect_first=7, keep_recent=9)
    agent.messages, agent.tools = [SYSTEM, USER], [{"name": "x" * 388}]
    assert agent.settings() == {
        "limit": 8_400, "prune_limit": 3_100, "tail_token_budget": 2_000, "protect_first": 7, "keep_recent": 9
    }  # fmt: skip


def test_after_a_summary_that_failed_three_compressions_go_without():
    agent = agent_of()
    assert agent.summarize([USER], None) == "## Goal\n1 turns"
    failed = CompressionReport("pruned", "the summary failed", 9, 8, 8, summary_failed=True)
    agent.judge(CompressionReport("compressed", "the middle was summarised", 9, 8, 8))
    assert agent.cooldown == 0
    for left in (3, 2, 1, 0, 3):
        agent.judge(failed)
        assert agent.cooldown == left
        if left:
            with pytest.raises(SummaryError, match=f"and {left} compressions go without"):
                agent.summarize([USER], None)
        else:
            assert agent.summarize([USER], None) == "## Goal\n1 turns"


def test_the_estimate_is_right_when_messages_were_taken_away():
    agent = agent_of()
    agent.messages = [SYSTEM, USER, *groups(3)]
    for _ in range(2):
        assert agent.estimate() == estimate_tokens(agent.messages)
        del agent.messages[4:]


def test_the_agent_tells_the_model_of_compactions_and_mends_what_it_is_given():
    messages = [USER, USER, asks("a"), USER | {"content": "again"}]
    with provider_of(10_000, lambda body: REPLY) as provider, provider.client() as client:
        agent = agent_of(client)
        agent.run(messages)
    assert [exchange.status for exchange in provider.log] == [200]
    sent = provider.log[0].body["messages"]
    assert sent[0] == {"role": "system", "content": COMPACTION_NOTE}
    assert [message["role"] for message in sent[1:]] == ["user", "assistant", "user", "assistant", "tool", "user"]
    assert agent.meter.ratio == provider.log[0].prompt_tokens / estimate_tokens(sent)


def test_a_response_without_usage_says_nothing_about_tokens():
    agent = agent_of()
    agent.received(SimpleNamespace(usage=None))
    assert agent.meter.ratio == 1


def test_a_compression_is_told_with_the_tokens_before_and_after():
    told_of = []
    agent = agent_of(on_event=lambda kind, **data: told_of.append((kind, data)))
    agent.messages = [SYSTEM, USER, *groups(12)]
    before = agent.prompt_tokens()
    agent.make_room()
    assert [kind for kind, _ in told_of] == ["compression"]
    assert told_of[0][1] == {"report": told_of[0][1]["report"], "before": before, "after": agent.prompt_tokens()}
    assert told_of[0][1]["after"] < before


@pytest.mark.parametrize(
    ("messages", "mended"),
    [
        ([SYSTEM, USER, *groups(1), REPLY], False),
        ([SYSTEM, USER, asks("a")], True),  # a result is missing
        ([SYSTEM, USER, REPLY | {"content": "nul \x00"}, USER], True),  # as many messages afterwards
    ],
)
def test_only_a_history_that_arrives_broken_is_replaced(messages, mended):
    agent = agent_of()
    agent.messages = given = list(messages)
    agent.mend()
    assert (agent.messages is not given) == mended
    assert rules.violations(to_wire(agent.messages)) == []


def test_only_a_compression_reads_the_system_prompt_anew():
    memory = ["cats"]
    agent = agent_of(prompt=PromptBuilder({"memory": lambda: f"The user likes {memory[-1]}."}))
    agent.messages = agent.with_prompt([SYSTEM, USER, *groups(12)])
    memory.append("dogs")
    agent.make_room()
    assert "likes cats" in agent.messages[0]["content"], "pruning keeps the prompt, and with it the provider's cache"
    agent.compress_now()
    assert any(map(is_summary, agent.messages))
    assert "likes dogs" in agent.messages[0]["content"]
    assert "likes cats" not in agent.messages[0]["content"]


def test_a_compression_that_changed_nothing_leaves_the_list_and_a_failed_one_is_remembered():
    agent = agent_of()
    agent.messages = given = [SYSTEM, USER, asks("a"), result("a")]
    agent.compress_now()
    assert agent.messages is given
    assert agent.cooldown == 0
    agent.messages = [SYSTEM, USER, *groups(2)]
    agent._summarize = Teller("")
    agent.compress_now()
    assert agent.cooldown == 3


SUMMED = SUMMARY_PREFIX + "\n\n## Goal\n\n" + SUMMARY_END
KINDS = [
    # (the message, what it is)
    (USER, {"request"}),
    (USER | {"content": "(see above)"}, {"request"}),
    (USER | {"content": ""}, {"request"}),
    (USER | {"content": [TEXT_PART]}, {"request"}),
    (USER | {"content": BRIDGE_USER}, {"generated", "bridge"}),
    (USER | {"content": BRIDGE_ASSISTANT}, {"request"}),
    (USER | {"content": EMPTY_REPLY}, {"request"}),
    (USER | {"content": "anything", "_generated": "bridge"}, {"generated", "bridge"}),
    (USER | {"content": BRIDGE_USER, "_generated": "unknown role"}, {"generated"}),
    (REPLY, {"reply"}),
    (REPLY | {"content": "(done)", "tool_calls": []}, {"reply"}),
    (REPLY | {"content": [TEXT_PART]}, {"reply"}),
    (REPLY | {"content": None, "refusal": "no"}, {"reply"}),
    (REPLY | {"content": BRIDGE_USER}, {"reply"}),
    (REPLY | {"content": BRIDGE_ASSISTANT}, {"generated", "bridge"}),
    (REPLY | {"content": EMPTY_REPLY}, {"generated"}),
    (REPLY | {"content": ""}, {"generated"}),
    (REPLY | {"content": None}, {"generated"}),
    (REPLY | {"content": " \n"}, {"generated"}),
    (REPLY | {"content": SUMMED + "\n"}, {"generated", "summary"}),
    (REPLY | {"content": SUMMED + " and more"}, {"reply"}),
    (REPLY | {"content": "It says: " + SUMMED}, {"reply"}),
    (REPLY | {"content": SUMMED, "_generated": "stub"}, {"generated"}),
    (asks("a") | {"content": SUMMED}, set()),
    (asks("a"), set()),
    (asks("a") | {"content": BRIDGE_ASSISTANT}, set()),
    (result("a", BRIDGE_USER), set()),
    (SYSTEM | {"content": BRIDGE_USER}, set()),
]  # fmt: skip


@pytest.mark.parametrize(("message", "kinds"), KINDS)
def test_what_a_message_is(message, kinds):
    tests = {
        "summary": is_summary,
        "bridge": is_bridge,
        "generated": is_generated,
        "request": is_request,
        "reply": is_visible_reply,
    }
    assert {kind: bool(test(message)) for kind, test in tests.items()} == {kind: kind in kinds for kind in tests}
    assert (find_anchors([message]) == [0]) == bool(kinds & {"request", "reply"})


def test_lines_are_what_has_no_calls_and_is_no_result():
    odd = [REPLY | {"tool_calls": []}, USER | {"tool_calls": [READ]}, result("b") | {"tool_calls": []}]
    assert find_lines([SYSTEM, USER, asks("a"), result("a"), REPLY, *odd]) == [0, 1, 4, 5, 6]


def test_a_head_has_three_messages_where_nothing_else_is_said():
    assert find_boundaries([sized("user", 15_000)] * 9) == (3, 8)


def test_the_last_of_several_replies_is_the_anchor():
    assert find_anchors([USER, REPLY, REPLY | {"content": "y"}, asks("a"), result("a")]) == [0, 2]


def pruned_text(text):
    """What pruning without a lower bound makes of the text of one result."""
    return prune_old_tool_results([asks("a", tool="f"), result("a", text)], keep_recent=0, min_chars=0)[1]["content"]


LINE = "[Old tool output cleared to save context space: f, 300 characters]"
QUOTE = PLACEHOLDER_START + " " * (199 - len(PLACEHOLDER_START))
CLEARED = [
    # (what the result is, its text, what pruning makes of it)
    ("as long as its placeholder", "x" * 65, "x" * 65),
    ("one character longer", "x" * 66, LINE.replace("300", "66")),
    ("long", "x" * 300, LINE),
    ("a placeholder", LINE, LINE),
    ("a placeholder's beginning, below 200 characters", QUOTE, QUOTE),
    ("a placeholder's beginning, 200 characters", QUOTE + "x", LINE.replace("300", "200")),
    ("a placeholder's beginning at its end", "x" * 90 + PLACEHOLDER_START, LINE.replace("300", "136")),
]


@pytest.mark.parametrize(("what", "text", "expected"), CLEARED, ids=[row[0] for row in CLEARED])
def test_what_is_cleared_without_a_lower_bound(what, text, expected):
    assert pruned_text(text) == expected
    assert pruned_text(expected) == expected


@pytest.mark.parametrize(
    ("tool", "call_id", "named"),
    [("t" * 61, "a", "t" * 60), (5, "a", "5"), (None, 5, "f"), ("", "a", "tool"), ("grep", None, "grep")],
)
def test_the_placeholder_names_the_tool_however_odd_its_call(tool, call_id, named):
    made = {"id": call_id, "function": {"name": "f" if tool is None else tool}}
    pruned = prune_old_tool_results([called(made), result(call_id, BIG)], keep_recent=0)
    assert pruned[1]["content"] == f"{PLACEHOLDER_START}: {named}, 2,000 characters]"


def test_three_results_and_those_of_two_hundred_characters_are_not_cleared():
    sizes = [200, 201, 201, 201, 201]
    messages = [m for i, size in enumerate(sizes) for m in (asks(str(i)), result(str(i), "x" * size))]
    assert [i for i, new in enumerate(prune_old_tool_results(messages)) if new is not messages[i]] == [3]


REASONED = CompressionReport("pruned", "nothing to do", 9_000, 8_900, 8_900)
STUCK = [
    # (what is known, what the error says of it)
    ({}, ""),
    ({"report": REASONED}, ": nothing to do"),
    ({"reason": "too big"}, ": too big"),
    ({"report": REASONED, "reason": "too big"}, ": too big"),
    ({"report": CompressionReport("pruned", "", 9_000, 8_900, 8_900)}, ""),
]


@pytest.mark.parametrize(("known", "says"), STUCK)
def test_the_words_of_a_stuck_error(known, says):
    error = CompressionStuckError(9_000, 8_900, **known)
    assert str(error) == f"the context cannot be compressed further (9,000 -> 8,900 tokens{says})"
    assert (error.before, error.after, error.messages, error.report) == (9_000, 8_900, None, known.get("report"))


def answered(*sizes):
    """A request and one group whose results have so many tokens."""
    names = [f"c{i}" for i in range(len(sizes))]
    results = [sized("tool", size, tool_call_id=name) for name, size in zip(names, sizes, strict=True)]
    return [SYSTEM, USER, asks(*names), *results]


@pytest.mark.parametrize(
    ("sizes", "budget", "expected"),
    [
        ([100, 200], 300, [100, 200]),  # to the token
        ([100, 200], 299, [100, 199]),
        ([300, 5_000], 601, [300, 301]),  # nothing of the budget is lost
        ([5_000, 300], 601, [301, 300]),
        ([41, 41], 0, [40, 40]),
    ],
)
def test_results_are_clipped_to_the_token(sizes, budget, expected):
    messages = answered(*sizes)
    clipped = clip_newest_results(iter(messages), budget)
    assert [estimate_message_tokens(message) for message in clipped[3:]] == expected
    for size, new, old in zip(expected, clipped[3:], messages[3:], strict=True):
        assert (new is old) == (size == estimate_message_tokens(old)), "what is short enough is the same object"


@pytest.mark.parametrize(
    ("size", "limit", "budget", "left"),
    [
        (5_000, 1_000, 900, 900),  # the tail's budget
        (5_000, 1_000, 5_000, 981),  # what the other messages leave of the limit
        (5_000, 1_000, None, 981),
        (50_000, 30_000, None, 20_000),  # the tail's budget where nothing is said of it
        (50_000, 30_000, 20, 40),
    ],
)
def test_the_last_resort_is_the_tails_budget_or_what_the_limit_leaves(size, limit, budget, left):
    settings = {} if budget is None else {"tail_token_budget": budget}
    messages = answered(size)
    assert estimate_tokens(messages[:3]) == 18
    kept, report = compress_or_raise(messages, never, limit=limit, **settings)
    assert estimate_tokens(kept) == report.after == 18 + left
    assert report == CompressionReport(
        "pruned", "below the limit with clipped results; nothing to compress between head and tail",
        18 + size, 18 + left, 18 + size, clipped=1,
    )  # fmt: skip


def test_below_the_limit_nothing_is_clipped_and_no_model_is_called():
    messages = answered(480)
    for limit, reason in (
        (499, "below the limit without a summary"),
        (498, "nothing to compress between head and tail"),
    ):
        kept, report = compress_or_raise(messages, never, limit=limit, tail_token_budget=100)
        assert kept == messages
        assert (report.outcome, report.reason, report.clipped) == ("unchanged", reason, 0)
    messages = [SYSTEM, USER, *groups(12)]
    _, report = compress_or_raise(messages, never, limit=4_000)
    assert (report.outcome, report.reason) == ("pruned", "below the limit without a summary")


@pytest.mark.parametrize(("more", "stuck"), [(0, True), (-1, False)])
def test_saving_a_tenth_to_the_token_is_enough(more, stuck):
    messages = [SYSTEM, USER, *MIDDLE, {"role": "user", "content": "go on" * 3}, *groups(1)]
    before = estimate_tokens(messages)
    assert before * 9 % 10
    summary = told(estimate_tokens(MIDDLE) - before + int(before * 0.9) + more)
    settings = {"protect_first": 2, "tail_token_budget": estimate_tokens(messages[5:])}
    try:
        _, report = compress_or_raise(messages, summary, **settings)
        end = report
    except CompressionStuckError as error:
        end = error
    assert isinstance(end, CompressionStuckError) == stuck
    assert (end.before, end.after) == (before, int(before * 0.9) + more)


def test_one_turn_that_was_summarised_for_little_is_stuck_too():
    messages = [SYSTEM, sized("user", 60), sized("user", 3_000), *groups(1)]
    with pytest.raises(CompressionStuckError) as stuck:
        compress_or_raise(messages, summarize, protect_first=0, tail_token_budget=10)
    assert stuck.value.report.summarised == 1


def stuck_aware(**settings):
    return StuckAwareAgent(None, "m", ToolRegistry(), context_length=10_000, summarize=summarize, **settings)


@pytest.mark.parametrize(
    ("due", "heard"),
    [("x" * 7, []), ("x" * 8, [8]), ("x" * 20, [8]), ("x" * 7 + "-" + "x" * 7, []), (("x" * 8 + "-") * 2, [8, 8])],
)
def test_eight_compressions_in_a_row_are_told(due, heard):
    events = []
    agent = stuck_aware(on_event=lambda kind, **data: events.append((kind, data)))
    for needed in due:
        agent.messages = [SYSTEM, USER, *groups(12 if needed == "x" else 1)]
        agent.make_room()
    assert [data["count"] for kind, data in events if kind == "frequent"] == heard
    assert sum(kind == "compression" for kind, _ in events) == due.count("x")


def test_clipping_that_is_not_enough_says_why_nothing_more_was_done():
    for rest, after in ((946, 1_000), (947, 1_001)):
        messages = [SYSTEM, sized("user", rest), asks("a"), sized("tool", 5_000, tool_call_id="a")]
        kept, report = compress_or_raise(messages, never, limit=1_000)
        assert (estimate_tokens(kept), report.after, report.clipped) == (after, after, 1)
        assert (report.outcome, report.reason) == ("pruned", "nothing to compress between head and tail")


def test_the_outcome_is_the_most_that_was_done():
    unread = [asks("z"), sized("tool", 5_000, tool_call_id="z")]
    _, report = compress_or_raise([SYSTEM, USER, *groups(6), *unread], summarize, limit=1_000, tail_token_budget=200)
    assert (report.outcome, report.clipped) == ("compressed", 1)
    with pytest.raises(CompressionStuckError) as stuck:
        compress_or_raise([SYSTEM, sized("user", 3_000), asks("a"), result("a")], never, limit=1_000)
    assert (stuck.value.report.outcome, stuck.value.report.clipped) == ("unchanged", 0)


def test_only_the_first_message_is_the_system_prompt_that_stays():
    assert must_stay([USER, sized("system", 900)]) == estimate_tokens([USER])


def lines(tokens):
    """A conversation of so many tokens in which nothing can be pruned."""
    talk = [m for _ in range(tokens // 1_000) for m in (sized("user", 500), sized("assistant", 500))]
    return [SYSTEM, sized("user", 492 + tokens % 1_000), *talk[1:], USER]


def test_a_summary_that_had_to_wait_is_tried_before_the_agent_gives_up():
    agent = stuck_aware()
    agent.messages, agent.cooldown = lines(9_000), 3
    agent.make_room()
    assert any(map(is_summary, agent.messages))
    assert agent.cooldown == 0


@pytest.mark.parametrize(("tokens", "stuck"), [(9_000, False), (9_999, False), (10_000, True), (11_000, True)])
def test_a_summary_that_failed_is_no_end_while_the_window_has_room(tokens, stuck):
    agent = stuck_aware()
    agent.messages, agent._summarize = lines(tokens), Teller("")
    given = list(agent.messages)
    if stuck:
        with pytest.raises(CompressionStuckError, match="the summary is empty"):
            agent.make_room()
    else:
        agent.make_room()
        assert agent.cooldown == 3
    assert agent.messages == given


def test_what_pruning_saved_is_kept_when_the_summary_failed():
    agent = stuck_aware()
    agent.messages, agent._summarize = [*lines(8_500), *groups(4, "x" * 900)], Teller("")
    agent.make_room()
    assert sum("cleared to save" in message["content"] for message in agent.messages if message["role"] == "tool") == 1


def test_a_summary_that_saved_a_tenth_but_for_a_part_of_a_token_is_poor():
    agent = stuck_aware()
    for _ in range(2):
        agent.judge(CompressionReport("compressed", "", 1_005, 904, 904))
    with pytest.raises(CompressionStuckError):
        agent.judge(CompressionReport("compressed", "", 1_005, 904, 904))


def test_with_nothing_to_compress_a_list_over_the_limit_is_the_end_at_once():
    agent = stuck_aware()
    agent.messages = [SYSTEM, USER, sized("assistant", 9_000, tool_calls=[READ]), result("a")]
    with pytest.raises(CompressionStuckError, match="nothing to compress"):
        agent.make_room()


@pytest.mark.parametrize(("tokens", "stuck"), [(4_996, True), (4_995, False)])
def test_what_must_stay_and_reaches_the_threshold_is_the_end_before_anything_is_paid_for(tokens, stuck):
    agent = stuck_aware()
    agent.messages = [SYSTEM, *groups(3), sized("user", tokens)]
    if stuck:
        with pytest.raises(CompressionStuckError, match="the system prompt and the last request alone reach") as error:
            agent.make_room()
        assert (error.value.before, error.value.after, error.value.messages) == (5_000, 5_000, agent.messages)
    else:
        agent.make_room()


def test_the_user_can_ask_a_stuck_aware_agent_for_a_summary_too():
    agent = stuck_aware()
    agent.messages = [SYSTEM, USER, *groups(4)]
    agent.compress_now()
    assert any(map(is_summary, agent.messages))


def test_the_end_of_a_stuck_turn_is_stored_and_told(tmp_path):
    told_of = []
    with SessionStore(tmp_path / "s.sqlite") as store:
        agent = stuck_aware(store=store, on_event=lambda kind, **data: told_of.append((kind, data)))
        outcome = agent.run([SYSTEM, sized("user", 9_000)])
        assert outcome["stop_reason"] == "stuck"
        assert not store.is_unfinished(agent.session_id)
        assert outcome["messages"] == store.load(agent.session_id)
    kind, data = told_of[-1]
    assert kind == "stuck"
    assert outcome["final_response"] == (
        f"Stopped: {data['error']}. Start a new session, or give this one less to read at once."
    )


def part(kind, value, **more):
    return {"type": kind, kind: value, **more}


def said(text):
    return {"type": "text", "text": text}


PICTURE, SOUND = part("image_url", {"url": "data:,x"}), part("input_audio", {"data": "d", "format": "wav"})
SAME = "the same object"
CONTENTS = [
    # (the content, its text, its pictures, the content that is sent)
    ("x", "x", 0, SAME),
    ("", "", 0, SAME),
    ("nul \x00", "nul \x00", 0, "nul \ufffd"),
    (None, "", 0, ""),
    ([], "", 0, ""),
    (5, "5", 0, "5"),
    ({"ä": {1}}, '{"ä": "{1}"}', 0, '{"ä": "{1}"}'),
    ([said("a"), part("refusal", "no")], "a\nno", 0, SAME),
    ([PICTURE, said("a"), SOUND, part("file", {"file_id": "f"})], "a", 3, SAME),
    ([said("a"), said("\x00")], "a\n\x00", 0, [said("a"), said("\ufffd")]),
(["nul \x00"], "nul \x00", 0, [said("nul \ufffd")]),
    ({"k": "\ud83d"}, '{"k": "\ud83d"}', 0, '{"k": "\ufffd"}'),
    (["bare", None], "bare\nnull", 0, [said("bare"), said("null")]),
    ([said(5)], '{"type": "text", "text": 5}', 0, [said('{"type": "text", "text": 5}')]),
    ([{"type": "refusal"}], '{"type": "refusal"}', 0, [said('{"type": "refusal"}')]),
    ([part("refusal", "no", text="yes")], "no", 0, SAME),
    ([{"type": "thinking", "text": "hm"}], "hm", 0, [said("hm")]),
    ([{"type": "thinking", "text": 5}], '{"type": "thinking", "text": 5}', 0, [said('{"type": "thinking", "text": 5}')]),
    *[
        ([odd], json.dumps(odd), 0, [said(json.dumps(odd))])
        for odd in (
            {"type": "image_url"}, part("image_url", ""), part("image_url", {"url": ""}), {"type": "image"}, part("image_url", {"url": 5}),
            part("file", {}), part("file", None), part("input_audio", {"data": "d"}), part("input_audio", {"format": "wav"}),
        )
    ],
    ([{"type": ["x"]}], '{"type": ["x"]}', 0, [said('{"type": ["x"]}')]),
    # A picture in another API's form is a picture, and not a long text.
    ([said("a"), part("image_url", "data:,x")], "a", 1, [said("a"), PICTURE]),
    ([part("input_image", None, image_url="data:,x")], "", 1, [PICTURE]),
    ([{"type": "image", "source": {"url": "data:,x"}}], "", 1, [PICTURE]),
    ([{"type": "image", "source": {"media_type": "image/png", "data": "AA"}}], "", 1, [part("image_url", {"url": "data:image/png;base64,AA"})]),
    ([said("a") | {"n": 5, "k": [None, {"b": 1}]}], "a", 0, SAME),
    ([said("a") | {"k": ["b", "\x00"]}], "a", 0, [said("a") | {"k": ["b", "\ufffd"]}]),
    ([said("a") | {"k\x00": {"b": "c"}}], "a", 0, [said("a") | {"k\ufffd": {"b": "c"}}]),
    ([PICTURE | {"image_url": {"url": "u\ud83d"}}], "", 1, [PICTURE | {"image_url": {"url": "u\ufffd"}}]),
]  # fmt: skip


@pytest.mark.parametrize(("content", "text", "pictures", "sent"), CONTENTS)
def test_what_content_says_and_what_is_sent_of_it(content, text, pictures, sent):
    assert (text_of(content), picture_count(content)) == (text, pictures)
    assert text_length(content) == len(text.replace("\n", "") if isinstance(content, list) else text)
    assert has_text({"content": content}) is bool(text.strip())
    message = USER | {"content": content}
    if sent is SAME:
        assert clean_message(message) is message
    else:
        assert clean_message(message) == USER | {"content": sent}
    assert rules.violations([clean_message(message)]) == []
    assert (validate_messages([message]) == []) == (sent is SAME)


ARGUMENTS = [
    # (what the model wrote, the arguments that are kept)
    ('{"a": 1}', SAME),
    ('{"q": "\ud83d"}', '{"q": "\ufffd"}'),
    ({"q": "ä\ud83d"}, '{"q": "ä\ufffd"}'),
    ({}, "{}"),
    ("", "{}"),
    (None, "{}"),
    ("[1]", '{"unparsed": "[1]"}'),
    ('{"a": NaN}', '{"unparsed": "{\\"a\\": NaN}"}'),  # Python reads it, and no JSON has it
    ({"a": float("inf")}, '{"unparsed": "{\\"a\\": Infinity}"}'),
    ([1], '{"unparsed": "[1]"}'),
    (5, '{"unparsed": "5"}'),
    ("[" * 99_999, '{"unparsed": "' + "[" * 99_999 + '"}'),
    ('{"\ud83d', '{"unparsed": "{\\"\ufffd"}'),
]


@pytest.mark.parametrize(("raw", "kept"), ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_arguments_of_any_form_become_the_text_of_an_object(raw, kept):
    assert clean_arguments(raw) == (raw if kept is SAME else kept)
    cleaned = clean_message(called({"id": "a", "type": "function", "function": {"name": "f", "arguments": raw}}))
    assert cleaned["tool_calls"][0]["function"]["arguments"] == clean_arguments(raw)


@pytest.mark.parametrize(
    ("size", "length"), [(0, 0), (40, 40), (55, 55), (56, 56), (100, 100), (999, 999), (1_000, 1_000)]
)
def test_a_clipped_text_keeps_both_ends(size, length):
    text = "<" + "x" * 998 + ">"
    clipped = clip(text, size)
    assert len(clipped) == length
    mark = "\n[... 1,000 characters in all, the middle left out ...]\n"
    if size == 1_000:
        assert clipped is text
    elif size <= len(mark):
        assert clipped == mark[:size]
    else:
        head, end = clipped.split(mark)
        assert len(head) - 2 * len(end) in (0, 1, 2)
        assert text.startswith(head)
        assert text.endswith(end)


MESSAGES = [
    # (a message, what is sent of it)
    (REPLY, SAME),
    (REPLY | {"refusal": None, "mood": 5}, SAME),
    (REPLY | {"content": None, "refusal": "no"}, REPLY | {"content": "no", "refusal": "no"}),  # not every server reads it
    (REPLY | {"content": [part("refusal", "no")]}, REPLY | {"content": "no"}),
    (REPLY | {"content": [PICTURE], "refusal": "no"}, REPLY | {"content": [PICTURE, said("no")], "refusal": "no"}),
    (REPLY | {"reasoning_content": "half \ud83d"}, REPLY | {"reasoning_content": "half \ufffd"}),
    (REPLY | {"content": "", "refusal": " "}, REPLY | {"content": EMPTY_REPLY, "refusal": " ", "_generated": "empty reply"}),
    (REPLY | {"content": None, "refusal": 5}, REPLY | {"content": "5", "refusal": "5"}),
    (called(READ | {"note": "half \ud83d"}), called(READ | {"note": "half \ufffd"})),
    (REPLY | {"name": "n\x00", "tool_calls": []}, REPLY | {"name": "n\ufffd", "tool_calls": []}),
    ({"role": "assistant"}, {"role": "assistant", "content": EMPTY_REPLY, "_generated": "empty reply"}),
    (REPLY | {"content": [PICTURE]}, REPLY | {"content": [PICTURE, said(EMPTY_REPLY)], "_generated": "empty reply"}),
    ({"role": "user"}, {"role": "user", "content": ""}),
    (USER | {"tool_calls": [{"id": "a"}]}, SAME),
    (result("a", None), result("a", "")),
    (result(5), result("5")),
    (result("a\x00"), result("a\ufffd")),
    (asks("a"), SAME),
    (asks("a") | {"content": ""}, SAME),
    (asks("a") | {"content": []}, asks("a")),
    ({"role": "assistant", "tool_calls": [READ]}, asks("a")),
    (called(READ | {"type": None}), asks("a")),
    (called(READ | {"id": "a\x00"}), asks("a\ufffd")),
    (called({"id": "a", "n": 1}), called({"id": "a", "n": 1, "type": "function", "function": UNKNOWN})),
    (called({"id": "a", "function": "f"}), called({"id": "a", "type": "function", "function": UNKNOWN})),
    (called(READ, READ | {"function": {"name": "f\x00", "arguments": "", "n": 1}}), called(READ, READ | {"function": {"name": "f\ufffd", "arguments": "{}", "n": 1}})),
]  # fmt: skip


@pytest.mark.parametrize(("message", "sent"), MESSAGES, ids=range(len(MESSAGES)))
def test_what_is_sent_of_a_message(message, sent):
    cleaned = clean_message(message)
    if sent is SAME:
        assert cleaned is message
    else:
        assert cleaned == sent
        assert clean_message(cleaned) is cleaned


def holes(*places):
    """4,352 characters of base64, 17 blocks, with a full stop at the places."""
    return "".join("." if i in places else letter for i, letter in enumerate(BLOB[:4_352]))


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        (BLOB[:4_096], 0),  # not looked through
        (BLOB[:4_097], 16),
        (BLOB[:4_351], 16),
        (BLOB[:4_352], 17),
        (holes(255), 16),  # each place is in one block
        (holes(256), 16),
        (holes(511), 16),
        (holes(512), 16),
        ("abcdef" * 1_000, 0),
        ("abcdefg" * 1_000, 27),
    ],
    ids=range(10),
)
def test_each_unbroken_block_of_a_long_text_costs_a_token_a_character(text, blocks):
    assert estimate_message_tokens(result("a", text)) == 4 + (len(text) + 3 * 256 * blocks) // 4
    message = called({"id": "", "function": {"name": "", "arguments": text}})
    assert estimate_message_tokens(message) == 4 + (len(text) + 3 * 256 * blocks) // 4


def test_every_call_is_counted_to_the_character():
    ten, eleven = ({"id": "a", "function": {"name": "f", "arguments": "x" * size}} for size in (8, 9))
    assert estimate_message_tokens(called(ten, ten)) == 4 + 20 // 4
    assert estimate_message_tokens(called(ten, ten | {"id": ""})) == 4 + 19 // 4
    assert estimate_message_tokens(called(ten, eleven, eleven)) == 4 + 32 // 4
    assert estimate_message_tokens(called(ten, "x" * 600, "x" * 600)) == 4 + 1_210 // 4


def test_half_of_the_window_is_the_threshold_and_six_places_count():
    assert threshold_tokens(1_000) == 500
    assert [should_compress(tokens, 1_000) for tokens in (499, 500)] == [False, True]
    assert [threshold_tokens(1, share) for share in (2.0000004, 2.000004)] == [2, 3]


@pytest.mark.parametrize(("reported", "estimated", "ratio"), [(1, 2, 0.5), (2, 1, 2), (0, 5, 1), (5, 0, 1)])
def test_one_token_is_a_report(reported, estimated, ratio):
    meter = TokenMeter()
    meter.report(reported, estimated)
    assert meter.ratio == ratio
    assert isinstance(meter.estimate(3), int)


def test_a_name_or_a_refusal_of_any_form_can_be_sent():
    repaired, _ = sanitize_tool_pairs([USER, called(READ | {"function": {"name": 5, "arguments": "{}"}}), result("a")])
    assert rules.violations(repaired) == []
    assert has_text({"role": "assistant", "content": None, "refusal": 5})


@pytest.mark.parametrize("extra", [0, 1])
def test_a_request_that_would_not_fit_the_window_is_never_sent(extra):
    """Much was saved, and what the model has not read is still too long."""

    def after(tokens):
        agent = stuck_aware()
        agent.messages = [SYSTEM, USER, *groups(12), sized("assistant", tokens, tool_calls=[READ]), result("a")]
        agent.make_room()
        return agent.estimate()

    tokens = 9_000 + 10_000 - after(9_000) + extra
    if extra:
        with pytest.raises(CompressionStuckError, match=r"10,001 -> 10,001 tokens"):
            after(tokens)
    else:
        assert after(tokens) == 10_000


RENDERED = [
    # (a turn behind calls with the ids "5" and "a", the lines that quote it)
    (USER, "[user]\n  u"),
    (USER | {"content": "nul \x00\nb"}, "[user]\n  nul \ufffd\n  b"),
    (USER | {"content": [said("a"), PICTURE]}, "[user]\n  a\n  [1 picture]"),
    (USER | {"content": [PICTURE, SOUND]}, "[user]\n  \n  [2 pictures]"),
    (USER | {"tool_calls": [READ]}, "[user]\n  u"),
    (REPLY | {"content": None}, "[assistant]"),
    (asks("b") | {"content": "x"}, '[assistant]\n  x\n-> read_file {"path": "a.md"}'),
    (result(5), "[tool read_file]\n  r"),
    (result("a"), "[tool grep]\n  r"),
    (result("c"), "[tool result]\n  r"),
    (USER | {"content": "x" * 3_000}, "[user]\n  " + "x" * 3_000),
    (USER | {"content": "x" * 3_001}, "[user]\n  " + clip("x" * 3_001, 3_000).replace("\n", "\n  ")),
]


@pytest.mark.parametrize(("turn", "quoted"), RENDERED, ids=range(len(RENDERED)))
def test_how_a_turn_is_quoted(turn, quoted):
    calls = called(call("5"), call("a", tool="grep"))
    assert (
        list(render_turns([calls, turn]))[1] == quoted
        if turn["role"] == "tool"
        else [*render_turns([turn])] == [quoted]
    )


@pytest.mark.parametrize(
    ("message", "text"), [(summary_message("x"), "x"), ({"content": None}, ""), ({"content": 5}, "5")]
)
def test_the_text_of_a_summary(message, text):
    assert summary_text(message) == text


def test_the_budget_is_a_whole_number_and_there_are_seven_headings():
    assert repr(summary_budget(30_001, 200_000)) == "6000"
    assert [heading[:3] for heading in HEADINGS] == ["## "] * 7


OVERHEAD = len(INSTRUCTION + SUMMARY_TEMPLATE) // 2  # tokens of the request around the turns


def test_a_summarisers_window_is_too_small_below_two_hundred_tokens_of_room():
    window = 2 * 500 + OVERHEAD + 200
    assert summarize_middle([USER], Client("## Goal"), "m", max_tokens=500, context_length=window) == "## Goal"
    with pytest.raises(SummaryError, match="too small"):
        summarize_middle([USER], Client("## Goal"), "m", max_tokens=500, context_length=window - 1)


def asked(*turns):
    """The requests for a summary of the turns, where 2,000 bytes of them have room in one."""
    client = Client("## Goal")
    summarize_middle(turns, client, "m", max_tokens=500, context_length=2 * 500 + OVERHEAD + 1_000)
    return client.requests


def quoted(size):
    """A turn that is quoted in so many bytes."""
    return USER | {"content": "x" * (size - len("[user]\n  "))}


@pytest.mark.parametrize(
    ("sizes", "requests"),
    [([100] * 20, 1), ([100] * 19 + [101], 2), ([100] * 21, 2), ([100] * 40, 2), ([100] * 39 + [101], 3)],
)
def test_the_turns_of_one_request_fill_it_to_the_byte(sizes, requests):
    assert len(asked(*map(quoted, sizes))) == requests
    assert len(asked(*[quoted(55) | {"content": "ä" * 41 + "x" * 9}] * 20, quoted(20))) == 2, "bytes, not characters"


def test_a_long_turn_is_clipped_to_its_share_of_a_request():
    text = USER | {"content": "x" * 251}
    assert next(render_turns([text], 250)) in asked(text)[0]
    fits, many = (asks(*map(str, range(count))) for count in (16, 17))
    assert len(next(render_turns([fits]))) < 500 < len(next(render_turns([many])))
    assert next(render_turns([fits])) in asked(fits)[0]
    assert clip(next(render_turns([many])), 500) in asked(many)[0]


def test_a_reply_that_is_no_summary_is_asked_for_again_with_the_whole_request():
    client = Client("done")
    with pytest.raises(SummaryError, match="lacks the headings"):
        summarize_middle([USER], client, "m")
    first, second = client.requests
    assert second == first + AGAIN


def test_goals_and_subjects_are_one_clean_line_of_a_thousand_and_of_two_hundred_characters():
    state = TaskState()
    task_set_goal(state, "nul \x00 " + "x" * 1_000)
    assert state.goal == "nul \ufffd " + "x" * 994
    assert todo_write(state, ["y" * 201, "z" * 200]) == "2 items written"
    assert [todo["subject"] for todo in state.todos] == ["y" * 200, "z" * 200]


def test_a_list_may_have_two_hundred_items_and_no_id_twice_in_any_form():
    state = TaskState()
    assert todo_write(state, ["a"] * 200) == "200 items written"
    assert [todo["id"] for todo in state.todos] == [f"t{n}" for n in range(1, 201)]
    assert "an id stands twice" in todo_write(state, [{"id": 7, "subject": "a"}, {"id": "7", "subject": "b"}])
    assert len(state.todos) == 200


def test_the_schemas_say_what_a_task_tool_takes():
    text = {"type": "string"}
    status = {"type": "string", "enum": ["pending", "in_progress", "completed"]}
    item = {"type": "object", "properties": {"id": text, "subject": text, "status": status}, "required": ["subject"]}
    taken = {
        "task_set_goal": {"goal": text},
        "todo_write": {"items": {"type": "array", "items": item}},
        "todo_update": {"id": text, "status": status},
    }
    schemas = task_tool_schemas()
    assert json.loads(json.dumps(schemas)) == schemas
    assert [schema["type"] for schema in schemas] == ["function"] * 3
    for schema, (name, properties) in zip(schemas, taken.items(), strict=True):
        function = schema["function"]
        assert function["name"] == name
        assert function["description"]
        assert function["parameters"] == {"type": "object", "properties": properties, "required": list(properties)}


def task_agent(**settings):
    return TaskAgent(None, "m", ToolRegistry(), context_length=10_000, summarize=summarize, **settings)


def test_a_task_agent_has_a_state_of_its_own_and_takes_up_a_stored_one():
    agent, other = task_agent(), task_agent()
    assert agent.state is not other.state
    assert agent.tools == task_tool_schemas()
    agent.restore_state(None)
    assert agent.session_state() == {"goal": "", "todos": []}
    todos = [{"id": "t1", "subject": "a", "status": "pending"}]
    agent.restore_state({"goal": "go", "todos": todos})
    assert agent.state == TaskState("go", todos)
    assert agent.session_state() == {"goal": "go", "todos": todos}
    assert (other.state, other.live_part()) == (TaskState(), "")


def test_only_task_tools_and_sequential_ones_run_alone():
    registry = ToolRegistry(
        [Tool("read_file", "", {}, lambda: "r"), Tool("write_file", "", {}, lambda: "w", sequential=True)]
    )
    agent = TaskAgent(None, "m", registry, context_length=10_000, summarize=summarize)
    assert agent.tools == registry.schemas() + task_tool_schemas()
    alone = {name: agent.is_sequential(call("a", tool=name)) for name in ("read_file", "write_file", *TASK_TOOLS)}
    assert alone == {
        "read_file": False,
        "write_file": True,
        "task_set_goal": True,
        "todo_write": True,
        "todo_update": True,
    }


def test_who_listens_hears_of_a_changed_state_once_its_result_is_stored():
    told_of = []
    agent = task_agent(on_event=lambda kind, **data: told_of.append((kind, data)))
    agent.messages = []
    set_goal = {"id": "a", "type": "function", "function": {"name": "task_set_goal", "arguments": '{"goal": "go"}'}}
    agent.remember([result("z")])
    assert [kind for kind, _ in told_of] == ["tool_end"]
    told_of.clear()
    assert agent.dispatch(set_goal) == "goal recorded"
    assert told_of == []
    agent.remember([result("a", "goal recorded")])
    agent.remember([result("b")])
    assert [kind for kind, _ in told_of] == ["tool_end", "task_state", "tool_end"]
    assert told_of[1][1] == {"state": agent.state}
    assert agent.state.goal == "go"
    agent.dispatch(call("c", tool="no_such_tool"))
    agent.remember([result("c")])
    assert [kind for kind, _ in told_of][3:] == ["tool_end"]


@pytest.mark.parametrize(("less", "kept"), [(0, 2), (1, 2), (2, 1), (100_000, 1)])
def test_the_tail_has_half_of_what_head_and_anchors_leave_of_the_limit(less, kept):
    messages = [sized("system", 300), sized("user", 1_000), *groups(4)]
    limit = 1_300 + 2 * estimate_tokens(messages[-4:]) + 1 - less
    cut = with_room(messages, find_cut(messages, 1, 9_000), limit)
    assert cut.tail_start == len(messages) - 2 * kept


@pytest.mark.parametrize(("less", "kept"), [(0, 2), (2, 1)])
def test_an_anchor_in_the_middle_takes_of_the_limit_too(less, kept):
    messages = [sized("system", 300), sized("user", 1_000), *groups(4)]
    tail = estimate_tokens(messages[-4:])
    cut = find_cut(messages, 1, tail)
    assert (cut.anchors, cut.tail_start) == ((1,), 6)
    assert with_room(messages, cut, 1_300 + 2 * tail - less).tail_start == len(messages) - 2 * kept


@pytest.mark.parametrize(("size", "head_end"), [(100, 3), (101, 1)])
def test_a_head_of_up_to_a_quarter_of_the_limit_stays_beside_a_small_tail(size, head_end):
    messages = [SYSTEM, sized("user", 50), sized("user", size - 50), *groups(6), sized("user", 20)]
    result, report = compress(messages, summarize, protect_first=3, tail_token_budget=10, limit=400)
    assert report.outcome == "compressed"
    assert (messages[1] in result) is (head_end == 3)
