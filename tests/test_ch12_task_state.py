"""Chapter 12: the state that is rendered before every request, and the three tools that keep it."""

from __future__ import annotations

import copy

import pytest

from reference.ch02_tools import ToolRegistry


@pytest.fixture
def state(chapter):
    return chapter.TaskState("Read all", [{"id": "t1", "subject": "a.md", "status": "completed"}])


def test_the_state_is_rendered_as_one_line_an_item(chapter):
    state = chapter.TaskState("Read all files")
    chapter.todo_write(state, [{"subject": "a", "status": "completed"}, {"subject": "b", "status": "in_progress"}, "c"])
    assert state.render() == (
        "# Task State (live, never compressed)\n## Goal\nRead all files\n## TODO\n[x] (t1) a\n[~] (t2) b\n[ ] (t3) c"
    )
    assert chapter.TaskState().render() == "", "nothing recorded costs nothing"


WRITES = [
    ("ids are filled in", ["a", "b"], [("t1", "pending"), ("t2", "pending")]),
    ("ids that are taken are passed over", [{"subject": "a"}, {"id": "t1", "subject": "b"}], [("t2", "pending"), ("t1", "pending")]),
    ("a status is kept", [{"subject": "a", "status": "completed"}], [("t1", "completed")]),
    ("an empty list clears it", [], []),
    ("a number as id becomes text", [{"id": 7, "subject": "a"}], [("7", "pending")]),
]  # fmt: skip
REFUSED = [
    ("an unknown status", [{"subject": "a", "status": "done"}], "status of pending, in_progress, completed"),
    ("no subject", [{"id": "t9"}], "needs a subject"),
    ("an id twice", [{"id": "x", "subject": "a"}, {"id": "x", "subject": "b"}], "an id stands twice"),
    ("no list", "a, b", "must be a list"),
    ("no list either", {"subject": "a"}, "must be a list"),
    ("too many", ["a"] * 201, "at most 200"),
    ("a number for an item", [3], "needs a subject"),
]


@pytest.mark.parametrize(("why", "items", "expected"), WRITES, ids=[row[0] for row in WRITES])
def test_todo_write(chapter, state, why, items, expected):
    before = copy.deepcopy(items)
    assert not chapter.todo_write(state, items).startswith("error")
    assert [(todo["id"], todo["status"]) for todo in state.todos] == expected
    assert items == before


@pytest.mark.parametrize(("why", "items", "problem"), REFUSED, ids=[row[0] for row in REFUSED])
def test_todo_write_refuses_and_changes_nothing(chapter, state, why, items, problem):
    before = copy.deepcopy(state)
    answer = chapter.todo_write(state, items)
    assert answer.startswith("error:")
    assert problem in answer
    assert state == before


def test_todo_update(chapter, state):
    assert chapter.todo_update(state, "t1", "in_progress") == "t1 is in_progress"
    assert state.todos[0]["status"] == "in_progress"
    assert "no item 't9'; the ids are t1" in chapter.todo_update(state, "t9", "completed")
    assert "unknown status 'done'" in chapter.todo_update(state, "t1", "done")
    assert state.todos[0]["status"] == "in_progress"


def test_task_set_goal(chapter, state):
    assert chapter.task_set_goal(state, "  Read\nthem  all ") == "goal recorded"
    assert state.goal == "Read them all", "a goal is one line, since it is sent with every request"
    assert chapter.task_set_goal(state, " ").startswith("error:")
    assert state.goal == "Read them all"


def calls_tool(name, arguments):
    function = {"name": name, "arguments": arguments}
    return {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": function}]}


def run(chapter, provider, messages, **settings):
    with provider, provider.client() as client:
        agent = chapter.TaskAgent(
            client, "m", ToolRegistry(), context_length=100_000, summarize=lambda turns, previous: "", **settings
        )
        return agent, agent.run(messages)


def test_the_state_is_in_every_request_and_never_in_the_messages(chapter, provider_with):
    write = calls_tool("todo_write", '{"items": ["a.md", "b.md"]}')
    update = calls_tool("todo_update", '{"id": "t1", "status": "completed"}')
    provider = provider_with(write, update, "done")
    agent, outcome = run(
        chapter, provider, [{"role": "system", "content": "STABLE"}, {"role": "user", "content": "go"}]
    )
    prompts = [exchange.body["messages"][0]["content"] for exchange in provider.log]
    assert all(prompt.startswith("STABLE\n\n" + chapter.TASK_TOOLS_GUIDANCE) for prompt in prompts), (
        "the stable part first"
    )
    assert "[ ] (t1) a.md" not in prompts[0]
    assert "[ ] (t1) a.md" in prompts[1]
    assert "[x] (t1) a.md" in prompts[2]
    assert outcome["messages"][0] == {"role": "system", "content": "STABLE"}
    assert agent.state.todos[0]["status"] == "completed"


def test_without_a_system_prompt_the_state_still_comes_first(chapter, provider_with):
    provider = provider_with("done")
    run(chapter, provider, [{"role": "user", "content": "go"}], state=chapter.TaskState("a goal"))
    assert [message["role"] for message in provider.log[0].body["messages"]] == ["system", "user"]


@pytest.mark.parametrize(
    ("name", "arguments", "answer"),
    [
        ("todo_update", '{"id": "t1"}', "error: todo_update takes id, status; found id"),
        ("todo_write", '{"items"', "error: todo_write takes items"),
        ("task_set_goal", "{}", "error: task_set_goal takes goal; found nothing"),
        ("task_forget", "{}", "error: there is no tool 'task_forget'"),
    ],
)
def test_wrong_calls_are_error_results(chapter, provider_with, name, arguments, answer):
    _, outcome = run(chapter, provider_with(calls_tool(name, arguments), "done"), [{"role": "user", "content": "go"}])
    assert outcome["messages"][2]["content"].startswith(answer)
    assert outcome["stop_reason"] == "answer"
