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


ITEM = {"id": "t1", "subject": "list files", "status": "completed"}


@pytest.mark.exercise("12.1")
@pytest.mark.parametrize(
    ("goal", "todos", "lines"),
    [
        ("", [], []),  # nothing recorded costs nothing
        ("Read all", [], ["## Goal", "Read all", "## TODO"]),
        ("", [ITEM], ["## Goal", "(not set)", "## TODO", "[x] (t1) list files"]),
        ("Read all", [ITEM], ["## Goal", "Read all", "## TODO", "[x] (t1) list files"]),
        ("Go", [ITEM | {"status": "pending"}], ["## Goal", "Go", "## TODO", "[ ] (t1) list files"]),
        (
            "Go",
            [ITEM, ITEM | {"id": "b", "status": "in_progress"}],  # the id that the model has to give to todo_update
            ["## Goal", "Go", "## TODO", "[x] (t1) list files", "[~] (b) list files"],
        ),
    ],
)
def test_the_state_as_text(chapter, goal, todos, lines):
    state = chapter.TaskState(goal, [dict(todo) for todo in todos])
    head = ["# Task State (live, never compressed)"] if lines else []
    assert state.render() == "\n".join(head + lines)


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
    ("a list for a status", [{"subject": "a", "status": ["completed"]}], "status of pending, in_progress, completed"),
]


@pytest.mark.exercise("12.2")
@pytest.mark.parametrize(("why", "items", "expected"), WRITES, ids=[row[0] for row in WRITES])
def test_todo_write(chapter, state, why, items, expected):
    before = copy.deepcopy(items)
    answer = chapter.todo_write(state, items)
    assert [(todo["id"], todo["status"]) for todo in state.todos] == expected, answer
    assert all(set(todo) == {"id", "subject", "status"} for todo in state.todos), (
        "an item has an id, a subject, a status"
    )
    assert isinstance(answer, str), "the model reads the answer: it is a text"
    assert items == before, "the items that came in were changed"


@pytest.mark.exercise("12.2")
@pytest.mark.parametrize(("why", "items", "problem"), REFUSED, ids=[row[0] for row in REFUSED])
def test_todo_write_refuses_and_changes_nothing(chapter, state, why, items, problem):
    before = copy.deepcopy(state)
    answer = chapter.todo_write(state, items)
    assert answer[:6] == "error:", "the model reads the answer: an error says so"
    assert state == before, "an error changes nothing"
    assert problem in answer


UPDATES = [
    ("t1", "in_progress", "t1 is in_progress", ["in_progress", "pending"]),
    ("b", "completed", "b is completed", ["completed", "completed"]),  # only the item that is named
    ("t1", "completed", "t1 is completed", ["completed", "pending"]),  # once more changes nothing
    ("t9", "completed", "error: there is no item 't9'; the ids are t1, b", ["completed", "pending"]),
    ("t1", "done", "error: unknown status 'done'; use pending, in_progress, completed", ["completed", "pending"]),
]


@pytest.mark.exercise("12.3")
@pytest.mark.parametrize(("item", "status", "answer", "statuses"), UPDATES)
def test_todo_update(chapter, state, item, status, answer, statuses):
    state.todos.append({"id": "b", "subject": "b.md", "status": "pending"})
    got = chapter.todo_update(state, item, status)
    assert [todo["status"] for todo in state.todos] == statuses
    assert got == answer


@pytest.mark.exercise("12.3")
def test_an_update_of_an_empty_list_says_so(chapter):
    assert chapter.todo_update(chapter.TaskState(), "t1", "pending") == "error: there is no item 't1'; the ids are none"


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


T1, T2 = ({"id": f"t{n}", "subject": name, "status": "pending"} for n, name in ((1, "a.md"), (2, "b.md")))

TASK_CALLS = [
    ("task_set_goal", {"goal": "Read all"}, "goal recorded"),
    ("todo_update", {"status": "completed", "id": "t1"}, "t1 is completed"),  # in whatever order
    ("todo_update", {"id": "t9", "status": "pending"}, "error: there is no item 't9'; the ids are t1"),  # its own words
    ("todo_update", {"id": "t1"}, "error: todo_update takes id, status; found id"),
    ("todo_update", {"id": "t1", "status": "pending", "why": "x"}, "error: todo_update takes id, status; found id, status, why"),
    ("task_set_goal", {"gaol": "Read all"}, "error: task_set_goal takes goal; found gaol"),  # misspelled
    ("todo_write", {}, "error: todo_write takes items; found nothing"),
    ("todo_write", None, "error: todo_write takes items; found nothing"),  # no JSON object at all
    ("todo_write", {"unparsed": '{"items"'}, "error: todo_write takes items; found unparsed"),  # broken JSON
]  # fmt: skip


@pytest.fixture
def agent(chapter, state):
    return chapter.TaskAgent(
        None, "m", ToolRegistry(), context_length=100_000, summarize=lambda turns, previous: "", state=state
    )


@pytest.mark.exercise("12.4")
@pytest.mark.parametrize(("name", "arguments", "answer"), TASK_CALLS)
def test_a_task_tool_is_called_with_its_arguments_or_an_error_text(agent, state, name, arguments, answer):
    before = copy.deepcopy(state)
    assert agent._task_call(name, arguments) == answer
    assert agent.state is state, "the agent keeps its state: others look at it"
    if answer.startswith("error:"):
        assert state == before, "an error changes nothing"


@pytest.mark.exercise("12.4")
def test_a_task_tool_acts_on_the_agents_own_state(agent, state):
    agent._task_call("todo_write", {"items": ["a.md", "b.md"]})
    assert state.todos == [T1, T2], "the list is written into `self.state`"
    agent._task_call("todo_update", {"id": "t2", "status": "in_progress"})
    assert state.todos == [T1, T2 | {"status": "in_progress"}]


def test_the_state_is_in_every_request_and_never_in_the_messages(chapter, provider_with):
    write = calls_tool("todo_write", '{"items": ["a.md", "b.md"]}')
    update = calls_tool("todo_update", '{"id": "t1", "status": "completed"}')
    provider = provider_with(write, update, "done")
    agent, outcome = run(
        chapter, provider, [{"role": "system", "content": "STABLE"}, {"role": "user", "content": "go"}]
    )
    prompts = [exchange.body["messages"][0]["content"] for exchange in provider.log]
    stable = outcome["messages"][0]["content"]
    assert stable.startswith("STABLE\n\n")
    assert chapter.TASK_TOOLS_GUIDANCE in stable
    assert "(t1)" not in stable, "the state is in no message"
    assert prompts[0] == stable, "nothing is recorded yet"
    assert all(prompt.startswith(stable) for prompt in prompts), "the stable part first, always the same bytes"
    assert "[ ] (t1) a.md" not in prompts[0]
    assert "[ ] (t1) a.md" in prompts[1]
    assert "[x] (t1) a.md" in prompts[2]
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
    results = [message["content"] for message in outcome["messages"] if message["role"] == "tool"]
    assert [text.startswith(answer) for text in results] == [True]
    assert outcome["stop_reason"] == "answer"
