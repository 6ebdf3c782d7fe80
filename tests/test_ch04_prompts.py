"""Chapter 4: layers with limits, a stable part whose bytes do not change, a live part behind it."""

from __future__ import annotations

import pytest

from reference.ch02_tools import ToolRegistry

USER = {"role": "user", "content": "go"}


@pytest.mark.exercise("4.1")
@pytest.mark.parametrize(
    ("layers", "live", "prompt"),
    [
        ({"personality": "Be brief."}, "", "Be brief."),
        ({"memory": "Likes tea.", "personality": "Be brief."}, "", "Be brief.\n\nLikes tea."),  # the order is fixed
        ({"guidance": "G", "project": "P", "skills": "S", "memory": "M"}, "", "M\n\nS\n\nP\n\nG"),
        ({"personality": "Be brief."}, "# State", "Be brief.\n\n# State"),  # the live part stands last
        ({"personality": "  \n"}, "", ""),  # an empty layer leaves nothing behind
        ({}, "", ""),
        ({"memory": "half \ud83d"}, "", "half \ufffd"),
    ],
)
def test_the_layers(chapter, layers, live, prompt):
    assert chapter.build_system_prompt(layers, live) == prompt


@pytest.mark.exercise("4.1")
@pytest.mark.parametrize("layer", ["personality", "memory", "skills", "project", "guidance"])
def test_every_layer_has_a_limit_and_says_when_it_was_cut(chapter, layer):
    prompt = chapter.build_system_prompt({layer: "A" + "x" * 50_000 + "Z"})
    assert len(prompt) == chapter.LAYER_LIMITS[layer], "no layer is longer than its limit"
    assert (prompt[:1], prompt[-1:]) == ("A", "Z"), "beginning and end stay: `clip` cuts in the middle"
    assert "50,002 characters in all" in prompt, "a layer that is cut says so"


@pytest.mark.exercise("4.1")
def test_an_unknown_layer_has_no_place(chapter):
    with pytest.raises(ValueError, match="there is no layer mood; the layers are personality, memory"):
        chapter.build_system_prompt({"mood": "good"})


@pytest.mark.exercise("4.2")
def test_the_stable_part_is_built_once_until_it_is_rebuilt(chapter):
    memory = ["Likes tea."]
    builder = chapter.PromptBuilder({"personality": "Be brief.", "memory": lambda: memory[0]})
    before = builder.stable()
    memory[0] = "Likes coffee."
    assert builder.stable() == before == "Be brief.\n\nLikes tea."
    assert builder.rebuild() == builder.stable() == "Be brief.\n\nLikes coffee."
    builder.add("guidance", "Use tools.")
    builder.add("guidance", "Use tools.")
    assert builder.stable().count("Use tools.") == 1, "the same text is added once"


@pytest.mark.exercise("4.2")
def test_a_layer_is_read_once_however_often_the_prompt_is_asked_for(chapter):
    reads = []
    builder = chapter.PromptBuilder({"memory": lambda: reads.append(1) or ""})
    assert [builder.stable() for _ in range(3)] == ["", "", ""], "an empty prompt is a prompt"
    assert len(reads) == 1, "built at the first call, kept for every later one"
    builder.rebuild()
    assert len(reads) == 2, "a rebuild reads every layer again"


@pytest.mark.exercise("4.2")
def test_the_builders_own_limits_count(chapter):
    builder = chapter.PromptBuilder({"memory": "M", "mood": "good"}, {"mood": 10, "memory": 10})
    assert builder.stable() == "good\n\nM", "hand `self.limits` on"


def test_project_files_are_read_where_they_are(chapter, tmp_path):
    (tmp_path / "AGENTS.md").write_text("Run the tests.", encoding="utf-8")
    assert chapter.read_project_files(tmp_path) == "# AGENTS.md\nRun the tests."
    assert chapter.read_project_files(tmp_path / "nowhere") == ""


def agent_with(chapter, client, live="", **layers):
    class Live(chapter.PromptAgent):
        def live_part(self):
            return live

    return Live(client, "m", ToolRegistry(), prompt=chapter.PromptBuilder(layers))


PARTS = [{"type": "text", "text": "Be brief."}]
BRIEF = {"role": "system", "content": "Be brief.", "_own_length": 0}


@pytest.mark.exercise("4.3")
@pytest.mark.parametrize(
    ("messages", "live", "sent"),
    [
        ([BRIEF, USER], "", [BRIEF, USER]),  # nothing live: nothing is added
        ([BRIEF, USER], "# State", [BRIEF | {"content": "Be brief.\n\n# State"}, USER]),
        ([USER], "# State", [{"role": "system", "content": "# State"}, USER]),  # no system message yet: it gets one
        ([], "# State", [{"role": "system", "content": "# State"}]),
        (
            [{"role": "developer", "content": "B"}],
            "L",
            [{"role": "developer", "content": "B\n\nL"}],
        ),  # one of SYSTEM_ROLES
        ([{"role": "system", "content": PARTS}, USER], "L", [{"role": "system", "content": "Be brief.\n\nL"}, USER]),
    ],
)
def test_the_live_part_stands_last_in_the_system_prompt(chapter, messages, live, sent):
    agent = agent_with(chapter, None, live)
    agent.messages = [dict(message) for message in messages]
    assert agent.outgoing() == sent
    assert agent.messages == messages, "the live part is sent, and never kept: a copy of the message gets it"


@pytest.mark.parametrize(
    ("messages", "live", "sent", "kept"),
    [
        ([USER], "", "Be brief.", "Be brief."),
        ([USER], "# State", "Be brief.\n\n# State", "Be brief."),  # the live part is sent, and in no message
        (
            [{"role": "system", "content": "Mine."}, USER],
            "# State",
            "Mine.\n\nBe brief.\n\n# State",
            "Mine.\n\nBe brief.",
        ),
    ],
)
def test_what_is_sent_and_what_is_kept(chapter, provider_with, messages, live, sent, kept):
    with provider_with("Done.") as provider, provider.client() as client:
        outcome = agent_with(chapter, client, live, personality="Be brief.").run(messages)
    assert provider.log[0].body["messages"][0]["content"] == sent
    assert outcome["messages"][0]["content"] == kept


def test_a_rebuilt_stable_part_takes_the_place_of_the_old_one(chapter, provider_with):
    memory = ["Likes tea."]
    with provider_with("Done.") as provider, provider.client() as client:
        agent = agent_with(chapter, client, memory=lambda: memory[0])
        messages = agent.run([{"role": "system", "content": "Mine."}, USER])["messages"]
        assert agent.with_prompt(messages) is messages, "the same bytes are the same message"
        memory[0] = "Likes coffee."
        agent.prompt.rebuild()
        assert agent.with_prompt(messages)[0]["content"] == "Mine.\n\nLikes coffee."


def test_without_layers_nothing_is_added(chapter, provider_with):
    with provider_with("Done.") as provider, provider.client() as client:
        outcome = agent_with(chapter, client).run([USER])
    assert provider.log[0].body["messages"] == [USER]
    assert outcome["messages"][0] == USER
