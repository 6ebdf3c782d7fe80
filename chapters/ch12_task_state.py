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
from dataclasses import asdict, dataclass, field
from typing import Any

from reference.ch11_stuck import StuckAwareAgent
from reference.messages import UNPARSED, Message, clean_text, parse_arguments

STATUS_MARKS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}
STATUSES = tuple(STATUS_MARKS)  # compared, not hashed: a model may send a list
MAX_TODOS = 200  # the list is sent with every request
MAX_SUBJECT = 200
MAX_GOAL = 1_000

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

        The lines are those of the drawing at the top of this file; a goal that is not set is "(not set)".

        Example: one finished item t1 "list files" is the line "[x] (t1) list files".
        """
        raise NotImplementedError("exercise 12.1: Render the goal and one line an item, with its mark and its id.")


def task_set_goal(state: TaskState, goal: str) -> str:
    """A line that confirms the goal, of up to 1,000 characters; an empty goal is an error text and changes nothing."""
    goal = _one_line(goal, MAX_GOAL)
    if not goal:
        return "error: the goal is empty"
    state.goal = goal
    return "goal recorded"


def todo_write(state: TaskState, items: Sequence[Any]) -> str:
    """A line that confirms the new TODO list, which replaces the old one; an error text changes nothing.

    An item is {"subject", "id"?, "status"?} or just its subject. Missing ids become t1, t2, ... (those not taken),
    a missing status pending. Errors begin with "error:": no subject, unknown status, an id twice, over 200 items, or
    `items` that is no list. A subject is one line (`_one_line`), an id is text.

    Example: ["a.md", {"subject": "b.md", "status": "completed"}] becomes
    [{"id": "t1", "subject": "a.md", "status": "pending"}, {"id": "t2", "subject": "b.md", "status": "completed"}].
    """
    raise NotImplementedError("exercise 12.2: Check every item, fill in missing ids and statuses, then replace the list.")


def todo_update(state: TaskState, id: str, status: str) -> str:
    """A line that confirms the item's new status; an unknown id or status is an error text and changes nothing.

    Example: todo_update(state, "t1", "in_progress") gives "t1 is in_progress". The errors: "error: unknown status
    'done'; use pending, in_progress, completed" and "error: there is no item 't9'; the ids are t1, t2".
    """
    raise NotImplementedError("exercise 12.3: Find the item and set its status.")


def _one_line(text: Any, most: int = MAX_SUBJECT) -> str:
    """Text on one line, at most 200 characters unless told, since it is sent with every request."""
    return " ".join(clean_text(text).split())[:most] if isinstance(text, str) else ""


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
        self.prompt.add("guidance", TASK_TOOLS_GUIDANCE)
        self._state_changed = False

    def live_part(self) -> str:
        """The task state, in the system prompt of every request and never in the messages."""
        return self.state.render()

    def session_state(self) -> dict[str, Any]:
        """The task state as it is stored with the session."""
        return asdict(self.state)

    def restore_state(self, state: dict[str, Any] | None) -> None:
        """Take a stored task state up again; it belongs to the lineage, so a child session has it too."""
        if state:
            self.state.goal, self.state.todos = state["goal"], state["todos"]

    def is_sequential(self, call: Message) -> bool:
        """Whether this call must not run beside others; the task tools change the agent, so they must not."""
        return call["function"]["name"] in TASK_TOOLS or super().is_sequential(call)

    def dispatch(self, call: Message) -> str:
        """The text that a tool gives; the task tools are intercepted before the registry."""
        name, arguments = call["function"]["name"], parse_arguments(call["function"]["arguments"])
        if name not in TASK_TOOLS:
            return super().dispatch(call)
        self._state_changed = True
        return self._task_call(name, arguments)

    def remember(self, messages: Sequence[Message]) -> None:
        """Store new messages together with the state that they led to; who listens hears of it then."""
        super().remember(messages)
        if self._state_changed:
            self._state_changed = False
            self.on_event("task_state", state=self.state)

    def _task_call(self, name: str, arguments: dict[str, Any] | None) -> str:
        """The result of a task tool, run on this agent's `state`; wrong arguments are an error text.

        TASK_TOOLS[name] holds the function, its description and its properties: all of these must be given, and no
        others. `arguments` is None where they were no JSON object; the key UNPARSED is there where they were broken.

        Example: with {"id": "t1"} todo_update gives "error: todo_update takes id, status; found id"; with None it ends
        with "found nothing".
        """
        raise NotImplementedError("exercise 12.4: Compare the arguments with the tool's properties, then run its function on the state.")
