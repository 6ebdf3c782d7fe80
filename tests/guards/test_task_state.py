"""Goal and items of any form, the three tools, and the agent that has them."""

from __future__ import annotations

import json

from reference.ch02_tools import Tool, ToolRegistry
from reference.ch12_task_state import TASK_TOOLS, TaskAgent, TaskState, task_set_goal, task_tool_schemas, todo_write
from tests.conftest import call
from tests.guards.builders import result, summarize


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
