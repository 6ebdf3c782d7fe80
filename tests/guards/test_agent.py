"""The agent that compresses: its settings, its estimate, what it tells, when it waits."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from course.provider import rules
from reference.ch01_agent_loop import to_wire
from reference.ch02_tools import ToolRegistry
from reference.ch04_prompts import PromptBuilder
from reference.ch05_budget import estimate_tokens
from reference.ch07_boundaries import is_summary
from reference.ch09_summary import SummaryError
from reference.ch10_compress import COMPACTION_NOTE, CompressingAgent, CompressionReport
from tests.conftest import provider_of
from tests.guards.builders import REPLY, SYSTEM, USER, Teller, asks, groups, result, summarize


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
