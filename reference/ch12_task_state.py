"""Chapter 12 · Task state: goal and progress live outside the messages.

A summary is lossy: its list of finished items is cut, the next summary cuts it again, and the agent reads files that
it has read. No better summary mends that. What must not be lost does not belong into the messages: a `TaskState` holds
the goal and a TODO list, is rendered into the system prompt before every request, and is kept by the model with three
tools.

    # Task State (live, never compressed)
    ## Goal
    Read all files under docs/
    ## TODO
    [x] (t1) docs/a.md
    [~] (t2) docs/b.md
    [ ] (t3) docs/c.md
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from reference.ch08_alignment import SYSTEM_ROLES
from reference.ch11_stuck import StuckAwareAgent
from reference.messages import UNPARSED, Message, clean_text, parse_arguments, text_of

STATUS_MARKS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}
MAX_TODOS = 200  # the list is sent with every request
MAX_SUBJECT = 200

TASK_TOOLS_GUIDANCE = (
    "For work of several steps, first record the goal with task_set_goal and write the TODO list with todo_write. Keep "
    "it true with todo_update as each step begins and ends. The Task State below is live: it is never compressed, and "
    "it tells what is done when the conversation no longer does."
)


@dataclass
class TaskState:
    """The goal and the TODO list of one session lineage; each item is {"id", "subject", "status"}."""

    goal: str = ""
    todos: list[dict[str, str]] = field(default_factory=list)

    def render(self) -> str:
        """The state as text for the system prompt; "" while nothing is recorded.

        Example: one finished item t1 "list files" is the line "[x] (t1) list files".
        """
        # BEGIN EXERCISE 12.1 Render the goal and one line an item, with its mark and its id.
        if not self.goal and not self.todos:
            return ""
        lines = ["# Task State (live, never compressed)", "## Goal", self.goal or "(not set)", "## TODO"]
        lines += [f"{STATUS_MARKS[todo['status']]} ({todo['id']}) {todo['subject']}" for todo in self.todos]
        return "\n".join(lines)
        # END EXERCISE 12.1


def task_set_goal(state: TaskState, goal: str) -> str:
    """A line that confirms the goal; an empty goal is an error text and changes nothing."""
    goal = _one_line(goal)
    if not goal:
        return "error: the goal is empty"
    state.goal = goal
    return "goal recorded"


def todo_write(state: TaskState, items: Sequence[Any]) -> str:
    """A line that confirms the new TODO list, which replaces the old one; an error text changes nothing.

    An item is {"subject", "id"?, "status"?} or just its subject. Missing ids become t1, t2, ... (those not taken),
    a missing status pending. Errors: no subject, unknown status, an id twice, over 200 items.
    """
    # BEGIN EXERCISE 12.2 Check every item, fill in missing ids and statuses, then replace the list.
    if not isinstance(items, Sequence) or isinstance(items, str) or len(items) > MAX_TODOS:
        return f"error: items must be a list of at most {MAX_TODOS} items"
    entries = [item if isinstance(item, dict) else {"subject": item} for item in items]
    taken = {str(entry["id"]) for entry in entries if entry.get("id")}
    if len(taken) < sum(bool(entry.get("id")) for entry in entries):
        return "error: an id stands twice; every item needs an id of its own"
    free = (name for n in range(1, 2 * MAX_TODOS + 1) if (name := f"t{n}") not in taken)
    todos = []
    for entry in entries:
        subject, status = _one_line(entry.get("subject")), entry.get("status") or "pending"
        if not subject or status not in STATUS_MARKS:
            return f"error: an item needs a subject and a status of {', '.join(STATUS_MARKS)}; found {entry!r:.200}"
        todos.append({"id": str(entry.get("id") or next(free)), "subject": subject, "status": status})
    state.todos = todos
    return f"{len(todos)} items written"
    # END EXERCISE 12.2


def todo_update(state: TaskState, id: str, status: str) -> str:
    """A line that confirms the item's new status; an unknown id or status is an error text and changes nothing."""
    # BEGIN EXERCISE 12.3 Find the item and set its status.
    if status not in STATUS_MARKS:
        return f"error: unknown status {status!r}; use {', '.join(STATUS_MARKS)}"
    for todo in state.todos:
        if todo["id"] == id:
            todo["status"] = status
            return f"{id} is {status}"
    return f"error: there is no item {id!r}; the ids are {', '.join(todo['id'] for todo in state.todos) or 'none'}"
    # END EXERCISE 12.3


def _one_line(text: Any) -> str:
    """Text on one line, at most 200 characters, since it is sent with every request."""
    return " ".join(clean_text(text).split())[:MAX_SUBJECT] if isinstance(text, str) else ""


_TEXT = {"type": "string"}
_STATUS = {"type": "string", "enum": list(STATUS_MARKS)}
_ITEM = {"type": "object", "properties": {"id": _TEXT, "subject": _TEXT, "status": _STATUS}, "required": ["subject"]}

TASK_TOOLS: dict[str, tuple[Callable[..., str], str, dict[str, Any]]] = {
    "task_set_goal": (task_set_goal, "Record the goal of the task.", {"goal": _TEXT}),
    "todo_write": (todo_write, "Replace the TODO list.", {"items": {"type": "array", "items": _ITEM}}),
    "todo_update": (todo_update, "Set the status of one TODO item.", {"id": _TEXT, "status": _STATUS}),
}


def task_tool_schemas() -> list[Message]:
    """The schemas of the three tools, as a request's `tools` list names them."""
    return [
        {
            "type": "function",
            "function": {
                "name": name,
                "description": description,
                "parameters": {"type": "object", "properties": properties, "required": list(properties)},
            },
        }
        for name, (_, description, properties) in TASK_TOOLS.items()
    ]


class TaskAgent(StuckAwareAgent):
    """An agent with a task state: three more tools, which act on the agent itself, and a live part in its prompt."""

    def __init__(self, *args: Any, state: TaskState | None = None, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.state = state if state is not None else TaskState()
        self.tools = self.tools + task_tool_schemas()

    def outgoing(self) -> list[Message]:
        """The messages with guidance and task state behind the system prompt; the messages themselves have neither."""
        live = "\n\n".join(text for text in (TASK_TOOLS_GUIDANCE, self.state.render()) if text)
        messages = super().outgoing()
        if messages and messages[0].get("role") in SYSTEM_ROLES:
            stable = text_of(messages[0].get("content"))
            return [messages[0] | {"content": f"{stable}\n\n{live}"}, *messages[1:]]
        return [{"role": "system", "content": live}, *messages]

    def is_sequential(self, call: Message) -> bool:
        """Whether this call must not run beside others; the task tools change the agent, so they must not."""
        return call["function"]["name"] in TASK_TOOLS or super().is_sequential(call)

    def run_call(self, call: Message) -> str:
        """The text of one call's result; the task tools are intercepted before the registry."""
        name, arguments = call["function"]["name"], parse_arguments(call["function"]["arguments"])
        if name not in TASK_TOOLS:
            return super().run_call(call)
        self.on_event("tool_start", tool=name, arguments=arguments or {})
        result = self._task_call(name, arguments)
        self.on_event("task_state", state=self.state)
        return result

    def _task_call(self, name: str, arguments: dict[str, Any] | None) -> str:
        """The result of a task tool; wrong arguments are an error text."""
        run, _, properties = TASK_TOOLS[name]
        if arguments is None or UNPARSED in arguments or arguments.keys() != properties.keys():
            return f"error: {name} takes {', '.join(properties)}; found {', '.join(arguments or {}) or 'nothing'}"
        return run(self.state, **arguments)
