"""The last resort to the token, and when the agent ends."""

from __future__ import annotations

import pytest

from reference.ch02_tools import ToolRegistry
from reference.ch03_sessions import SessionStore
from reference.ch05_budget import estimate_message_tokens, estimate_tokens
from reference.ch07_boundaries import is_summary
from reference.ch10_compress import CompressionReport
from reference.ch11_stuck import (
    CompressionStuckError,
    StuckAwareAgent,
    clip_newest_results,
    compress_or_raise,
    must_stay,
)
from tests.guards.builders import (
    BIG,
    BLOB,
    MIDDLE,
    READ,
    SYSTEM,
    USER,
    Teller,
    answered,
    asks,
    groups,
    never,
    result,
    sized,
    summarize,
    told,
)


def test_base64_is_clipped_by_what_it_costs():
    clipped = clip_newest_results([USER, asks("a"), result("a", BLOB)], 6_000)
    assert 5_000 < estimate_message_tokens(clipped[2]) <= 6_000


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
