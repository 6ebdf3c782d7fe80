"""Chapter 11: the last resort, the clean end, and no false alarm."""

from __future__ import annotations

import pytest

from reference.ch02_tools import Tool, ToolRegistry
from reference.ch05_budget import estimate_tokens
from reference.ch10_compress import CompressionReport
from tests.conftest import call, provider_of

BIG = "data " * 4_000
SYSTEM = {"role": "system", "content": "s"}


def summarize(turns, previous):
    return f"## Goal\n{len(turns)} turns"


def results_of(messages):
    return [message for message in messages if message["role"] == "tool"]


def test_a_first_message_that_eats_the_window_is_stuck(chapter, conversation):
    messages = conversation(results=["r"] * 3)
    messages[1] = {"role": "user", "content": BIG}
    with pytest.raises(chapter.CompressionStuckError, match="cannot be compressed further") as stuck:
        chapter.compress_or_raise(messages, summarize, limit=1_000)
    assert isinstance(stuck.value, RuntimeError)
    assert stuck.value.after >= int(stuck.value.before * chapter.COMPRESSION_MIN_SHRINK)
    assert stuck.value.messages == messages, "nothing is lost by the error"


def fails(turns, previous):
    raise RuntimeError("down")


LITTLE, MUCH, NOTHING = ["r" * 60] * 4, [BIG] * 8, ["r"] * 3


@pytest.mark.exercise("11.2")
@pytest.mark.parametrize(
    ("results", "first", "settings", "end"),
    [
        (NOTHING, "go", {"limit": 1_000}, "fine"),  # little was saved, and the list fits
        (NOTHING, "go", {"tail_token_budget": 200}, "fine"),  # there was nothing to compress: a reason, not an error
        (MUCH, "go", {"limit": 1_500}, "fine"),  # much was saved
        (MUCH, "go", {}, "fine"),
        (MUCH, "go", {"limit": 100}, "fine"),  # still over the limit, but much was saved: the next time saves more
        (LITTLE, BIG, {"limit": 9_000}, "fine"),  # little was saved, and the list fits all the same
        (NOTHING, BIG, {"limit": 1_000}, "stuck"),  # nothing to compress, and over the limit
        (LITTLE, BIG, {"limit": 1_000}, "stuck"),  # little was saved, and over the limit
        (LITTLE, BIG, {}, "stuck"),  # without a limit a list counts as over it
        (LITTLE, BIG, {"summarize": fails}, "stuck"),  # also when the summary failed
    ],
)
def test_stuck_is_little_saved_and_over_the_limit(chapter, conversation, results, first, settings, end):
    messages = conversation(results=results)
    messages[1] = {"role": "user", "content": first}
    settings = {"summarize": summarize, "tail_token_budget": 10} | settings
    try:
        result, report = chapter.compress_or_raise(messages, **settings)
        got = "fine"
        assert report.after == estimate_tokens(result), "the pair (result, report) is what comes back"
    except chapter.CompressionStuckError:
        got = "stuck"
    assert got == end


@pytest.mark.exercise("11.2")
def test_the_error_carries_all_that_is_known(chapter, conversation):
    messages = conversation(results=NOTHING)
    messages[1] = {"role": "user", "content": BIG}
    with pytest.raises(chapter.CompressionStuckError) as stuck:
        chapter.compress_or_raise(messages, summarize, limit=1_000)
    before = estimate_tokens(messages)
    assert (stuck.value.before, stuck.value.after) == (before, before), "before and after, in estimated tokens"
    assert stuck.value.messages == messages, "the list as far as it got: nothing is lost by the error"
    assert stuck.value.report is not None, "the report says why it got no further"


def test_without_a_limit_a_summary_that_saves_little_is_stuck(chapter, conversation):
    messages = conversation(results=["r" * 60] * 4)
    messages[1] = {"role": "user", "content": BIG}
    with pytest.raises(chapter.CompressionStuckError):
        chapter.compress_or_raise(messages, summarize, tail_token_budget=10)


def test_the_newest_result_is_clipped_when_nothing_else_helps(chapter, conversation):
    messages = conversation(results=["r", "HEAD " + BIG + " TAIL"])
    result, report = chapter.compress_or_raise(messages, summarize, limit=1_500, tail_token_budget=800)
    clipped = results_of(result)[-1]["content"]
    assert clipped.startswith("HEAD ")
    assert clipped.endswith(" TAIL")
    assert "characters in all, the middle left out" in clipped
    assert report.clipped == 1
    assert report.after == estimate_tokens(result) <= 1_500


@pytest.mark.parametrize(
    ("sizes", "budget", "expected"),
    [
        ([100, 100], 1_000, [100, 100]),  # everything fits
        ([100, 5_000], 1_000, [100, 900]),  # what is short stays, the long one gets the rest
        ([5_000, 5_000], 1_000, [500, 500]),
        ([5_000, 5_000], 0, [40, 40]),  # never less than forty tokens
        ([], 100, []),
    ],
)
def test_the_longest_results_are_clipped_to_one_common_length(chapter, conversation, sizes, budget, expected):
    messages = conversation(results=["x" * 4 * (size - 4) for size in sizes])
    clipped = chapter.clip_newest_results(messages, budget)
    assert [estimate_tokens([message]) for message in results_of(clipped)] == expected


@pytest.mark.exercise("11.1")
@pytest.mark.parametrize(
    ("sizes", "budget", "cap"),
    [
        ([100, 100], 1_000, 100),  # everything fits: nothing is cut, so the largest size
        ([100, 5_000], 1_000, 900),  # what is short stays, the long one gets the rest
        ([5_000, 5_000], 1_000, 500),  # in equal parts
        ([100, 200, 5_000, 5_000], 1_300, 500),  # two short ones leave 1,000 for two long ones
        ([300, 300, 300], 900, 300),  # to the token
        ([301, 301, 301], 900, 300),
        ([5_000, 5_000], 0, 40),  # never less than forty tokens
        ([5_000], -10, 40),
        ([], 100, 0),  # no results, no size
    ],
)
def test_the_common_length(chapter, sizes, budget, cap):
    assert chapter._common_cap(list(sizes), budget) == cap


def test_pictures_in_a_clipped_result_are_named(chapter, conversation):
    picture = {"type": "image_url", "image_url": {"url": "data:,x"}}
    clipped = chapter.clip_newest_results(conversation(results=[[picture, picture]]), 100)
    assert "2 left out: not text" in results_of(clipped)[0]["content"]


def sized(role, tokens, **more):
    """A message that is estimated at so many tokens."""
    return {"role": role, "content": "x" * 4 * (tokens - 4), **more}


PROMPT, REQUEST, REPLY = sized("system", 104), sized("user", 204), sized("assistant", 54)
RESULT = sized("tool", 9_000)
LOOKS = {"role": "assistant", "content": None, "tool_calls": [call("c")]}


@pytest.mark.exercise("11.3")
@pytest.mark.parametrize(
    ("messages", "tokens"),
    [
        ([PROMPT, REQUEST, LOOKS, RESULT], 308),  # a result can be cleared, and its call summarised
        ([REQUEST, LOOKS, RESULT], 204),  # no system prompt: the request is counted once
        ([PROMPT, REQUEST, REPLY, REQUEST, LOOKS, RESULT], 362),  # the last request, and the last reply
        ([PROMPT, sized("user", 5_000), REPLY, REQUEST], 362),  # an older request can be summarised
        ([PROMPT | {"role": "developer"}, REQUEST], 308),  # a developer's message is a system prompt
        ([PROMPT, REQUEST, sized("assistant", 900, _generated="summary")], 308),  # a summary is made anew
        ([REPLY, REQUEST], 258),
        ([sized("tool", 9_000), REQUEST], 204),  # what comes first is not always a prompt
        ([PROMPT], 104),
        ([], 0),
    ],
)
def test_what_no_compression_can_touch(chapter, messages, tokens):
    assert chapter.must_stay(messages) == tokens


POOR, GOOD, PRUNED = ("compressed", 9_000, 8_900), ("compressed", 9_000, 4_000), ("pruned", 9_000, 8_900)
TO_THE_TOKEN, ENOUGH = ("compressed", 10_000, 9_000), ("compressed", 10_000, 8_999)


@pytest.mark.exercise("11.4")
@pytest.mark.parametrize(
    ("reports", "stuck_at"),
    [
        ([POOR, POOR, POOR], 3),  # three were paid for, and the agent does not get on
        ([POOR, POOR], 0),  # two are no reason yet
        ([POOR, POOR, GOOD, POOR, POOR], 0),  # one that saved enough, and the count begins again
        ([GOOD, POOR, POOR, POOR], 4),
        ([PRUNED] * 5, 0),  # pruning calls no model: little saved costs nothing
        ([POOR, PRUNED, POOR, PRUNED, POOR], 5),  # and says nothing about summaries, good or bad
        ([TO_THE_TOKEN] * 3, 3),  # not below 90 %: the rule of `compress_or_raise`
        ([ENOUGH] * 5, 0),
    ],
)
def test_three_poor_summaries_in_a_row_are_the_end(chapter, reports, stuck_at):
    agent = agent_on(chapter, None, lambda path: "r")
    judged = [CompressionReport(outcome, "", before, after, after) for outcome, before, after in reports]
    number, _ = judge_until_stuck(chapter, agent, judged)
    told = ", ".join(f"{outcome} to {after / before:.1%}" for outcome, before, after in reports)
    assert number == stuck_at, f"which of these is the end (0: none of them): {told}"


def judge_until_stuck(chapter, agent, reports):
    """(the number of the report at which the agent is stuck, the error); (0, None) when it never is."""
    for number, report in enumerate(reports, 1):
        try:
            agent.judge(report)
        except chapter.CompressionStuckError as stuck:
            return number, stuck
    return 0, None


@pytest.mark.exercise("11.4")
def test_the_error_of_poor_summaries_says_where_the_agent_stands(chapter):
    agent = agent_on(chapter, None, lambda path: "r")
    agent.messages = [PROMPT, REQUEST]
    report = CompressionReport("compressed", "", 9_000, 8_900, 8_900)
    _, stuck = judge_until_stuck(chapter, agent, [report] * 5)
    assert stuck is not None, "five poor summaries in a row, and no error"
    assert (stuck.before, stuck.after) == (9_000, 8_900), "before and after are those of the last report"
    assert stuck.messages == agent.messages, "who catches it needs the messages"
    assert stuck.report == report, "the report says why it got no further"


@pytest.mark.exercise("11.4")
@pytest.mark.parametrize(
    ("report", "waits"),
    [
        (POOR, True),  # the next would save as little, and be paid for too
        (GOOD, False),
        (PRUNED, False),
    ],
)
def test_after_a_poor_summary_the_next_ones_wait(chapter, report, waits):
    agent, (outcome, before, after) = agent_on(chapter, None, lambda path: "r"), report
    agent.judge(CompressionReport(outcome, "", before, after, after))
    assert agent.cooldown == (chapter.SUMMARY_COOLDOWN if waits else 0), "compressions that go without a summary"


def agent_on(chapter, client, read, **settings):
    registry = ToolRegistry([Tool("read_file", "", {"type": "object"}, read)])
    return chapter.StuckAwareAgent(client, "m", registry, context_length=8_192, summarize=summarize, **settings)


def reads_for_ever(body):
    return {"role": "assistant", "content": None, "tool_calls": [call("c", f"{len(body['messages'])}.md")]}


def test_the_agent_ends_with_one_clean_sentence_instead_of_grinding(chapter):
    with provider_of(8_192, reads_for_ever) as provider, provider.client() as client:
        brief = {"role": "user", "content": "data " * 7_200}  # 88 % of the window
        outcome = agent_on(chapter, client, lambda path: "r").run([SYSTEM, brief])
    assert outcome["stop_reason"] == "stuck"
    assert "cannot be compressed further" in outcome["final_response"]
    assert "new session" in outcome["final_response"]
    assert provider.log == [], "a request that is known not to get on is not sent"


def test_a_result_bigger_than_the_window_is_survived(chapter):
    replies = iter([reads_for_ever({"messages": []}), {"role": "assistant", "content": "seen"}])
    with provider_of(8_192, lambda body: next(replies)) as provider, provider.client() as client:
        outcome = agent_on(chapter, client, lambda path: BIG * 10).run([SYSTEM, {"role": "user", "content": "read"}])
    assert outcome["stop_reason"] == "answer"
    assert [exchange.status for exchange in provider.log] == [200, 200]


def test_a_failed_summary_stops_the_agent_only_when_the_window_is_full(chapter):
    def fails(turns, previous):
        raise RuntimeError("down")

    count = iter(range(12))

    def answer(body):
        return reads_for_ever(body) if next(count, None) is not None else {"role": "assistant", "content": "done"}

    with provider_of(8_192, answer) as provider, provider.client() as client:
        agent = agent_on(chapter, client, lambda path: "data " * 300)
        agent._summarize = fails
        outcome = agent.run([SYSTEM, {"role": "user", "content": "read"}])
    assert outcome["stop_reason"] == "answer"
    assert {exchange.status for exchange in provider.log} == {200}


@pytest.mark.parametrize(
    ("characters", "calls", "heard"),
    [
        (0.9, 20, 1),  # each result fills the window: every compression succeeds, and there is one before each request
        (0.9, 6, 0),  # not often enough to say anything
        (0.1, 40, 0),  # compressions far apart are what they are for
    ],
)
def test_compression_before_every_request_is_told_once(chapter, characters, calls, heard):
    """Each of 108 compressions in a row can succeed and the session still be sick: NousResearch/hermes-agent#117574."""
    told, count = [], iter(range(calls))

    def answer(body):
        return reads_for_ever(body) if next(count, None) is not None else {"role": "assistant", "content": "done"}

    def on_event(kind, **data):
        told.extend([data["count"]] if kind == "frequent" else [])

    with provider_of(8_192, answer) as provider, provider.client() as client:
        agent = agent_on(chapter, client, lambda path: "word " * int(characters * 8_192 * 4 / 5), on_event=on_event)
        outcome = agent.run([SYSTEM, {"role": "user", "content": "read"}])
    assert outcome["stop_reason"] == "answer"
    assert told == [chapter.FREQUENT] * heard
