"""Where the cuts fall, what is kept, what is handed over, and when a summary is worth it."""

from __future__ import annotations

import pytest

from course.provider import rules
from reference.ch01_agent_loop import to_wire
from reference.ch05_budget import estimate_tokens
from reference.ch06_prune import prune_old_tool_results
from reference.ch07_boundaries import find_boundaries, is_summary
from reference.ch08_alignment import sanitize_tool_pairs, validate_messages
from reference.ch09_summary import summary_message
from reference.ch10_compress import CompressionReport, compress, find_cut, prune_read, with_room
from reference.pairing import STUB_RESULT
from tests.guards.builders import (
    BIG,
    MIDDLE,
    REPLY,
    SYSTEM,
    USER,
    Teller,
    asks,
    groups,
    never,
    result,
    sized,
    summarize,
    told,
)


def test_tools_on_the_never_prune_list_keep_their_text():
    messages = [USER, asks("a", tool="ask_user"), result("a", BIG), asks("b"), result("b", BIG), asks("c"), result("c")]
    pruned = prune_old_tool_results(messages, keep_recent=0, never_prune=["ask_user"])
    assert pruned[2] is messages[2]
    assert pruned[4]["content"].startswith("[Old tool output cleared")
    kept, _ = compress(messages, summarize, keep_recent=0, limit=800, never_prune=["ask_user"])
    assert kept[2] is messages[2]


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
    assert not any("function_call" in message for message in repaired)
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


@pytest.mark.parametrize("calls", [7, {"id": "a"}, "abc", [None], ["a"], [{"id": ["a"]}], [{"id": "a", "function": 3}]])
def test_calls_of_any_form_are_mended(calls):
    messages = [USER, {"role": "assistant", "content": "x", "tool_calls": calls}, result("a"), USER]
    estimate_tokens(messages)
    assert validate_messages(messages) != []
    kept, report = compress(messages, summarize, limit=10_000)
    assert rules.violations(to_wire(kept)) == []
    assert report.repairs > 0


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


def test_a_summary_stands_once_in_a_list_of_many_thousand():
    """The short ways for long lists give the same as the long ones."""
    messages = [SYSTEM, USER, *[m for i in range(3_000) for m in (asks(f"c{i}"), result(f"c{i}", "x" * (i % 600)))]]
    kept, report = compress(messages, summarize, tail_token_budget=2_000, limit=4_000)
    assert report.outcome == "compressed"
    assert report.before == estimate_tokens(messages)
    assert sum(map(is_summary, kept)) == 1
    assert rules.violations(to_wire(kept)) == []
    assert report.after == estimate_tokens(kept) < 4_000


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


def test_results_that_were_not_read_are_not_pruned_when_the_user_spoke_behind_them():
    group = [asks("a", "b", "c"), result("a", BIG), result("b", BIG), result("c", BIG)]
    messages = [SYSTEM, USER, asks("z"), result("z", BIG), *group, {"role": "user", "content": "and?"}]
    pruned = prune_read(messages, 0)
    assert pruned[4:] == messages[4:]
    assert pruned[3] != messages[3]


def test_the_tail_begins_with_its_call_also_where_the_list_does():
    assert find_cut([asks("a"), result("a"), REPLY], 0, 10).tail_start == 0


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


NO_GAIN = "a summary of {:,} tokens is not smaller than the {:,} tokens that it replaces"


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
