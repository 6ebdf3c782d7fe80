"""Guards that stand between chapters: what a kept message goes through, where the cuts fall, what base64 costs."""

from __future__ import annotations

import base64
import random
from types import SimpleNamespace

import pytest

from course.provider import rules
from reference.ch01_agent_loop import to_wire
from reference.ch05_budget import estimate_message_tokens, estimate_tokens
from reference.ch06_prune import prune_old_tool_results
from reference.ch07_boundaries import BRIDGE_USER, is_generated, is_summary
from reference.ch08_alignment import STUB_RESULT, sanitize_tool_pairs, validate_messages
from reference.ch09_summary import HEADINGS, SummaryError, render_turns, summarize_middle, summary_message
from reference.ch10_compress import compress, find_cut, prune_read
from reference.ch11_stuck import CompressionStuckError, clip_newest_results, compress_or_raise
from reference.messages import clean_message
from tests.conftest import call

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


def test_a_whole_group_closes_earlier_calls_with_its_ids():
    messages = [USER, asks("a"), asks("a"), result("a", "mine"), result("a", "a stray")]
    repaired, repairs = sanitize_tool_pairs(messages)
    assert [message.get("content") for message in repaired if message["role"] == "tool"] == [STUB_RESULT, "mine"]
    assert repairs == 2


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
