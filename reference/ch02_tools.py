"""Chapter 2 · Tools: a registry, errors as results, parallel calls in call order.

A model asks for a tool by name, with arguments as JSON text. Both can be wrong, and the tool itself can fail. None of
that may end the loop: whatever happens, each call gets exactly one result, and a failure is a result that says so.
The model reads it and tries something else.

    assistant  call 1: slow   call 2: wrong name   call 3: fast        three threads, three durations
    tool       result 1       error: no tool ...   result 3            one result a call, in the order of the calls
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from reference.ch01_agent_loop import Agent, tool_message
from reference.messages import UNPARSED, Message, parse_arguments

MAX_WORKERS = 8


@dataclass(frozen=True)
class Tool:
    """A function that the model may call: `run(**arguments)` returns the result.

    `parameters` is the JSON schema of the arguments. `sequential` marks a tool whose order among other calls matters
    (it writes, or it asks the user): a batch that contains one runs its calls one after the other.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    run: Callable[..., Any]
    sequential: bool = False

    def schema(self) -> Message:
        """The tool as a request's `tools` list names it."""
        function = {"name": self.name, "description": self.description, "parameters": self.parameters}
        return {"type": "function", "function": function}


class ToolRegistry:
    """The tools by name."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._tools: dict[str, Tool] = {}
        for tool in tools:
            self.register(tool)

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    def register(self, tool: Tool) -> None:
        """Add a tool; a name that is taken raises ValueError, since the model could not tell the two apart."""
        if tool.name in self._tools:
            raise ValueError(f"a tool named {tool.name!r} is registered already; choose another name")
        self._tools[tool.name] = tool

    def get(self, name: str) -> Tool | None:
        """The tool of that name, or None."""
        return self._tools.get(name)

    def schemas(self) -> list[Message]:
        """The `tools` list of a request, in order of registration, so that its bytes do not change."""
        return [tool.schema() for tool in self]

    def dispatch(self, call: Message) -> str:
        """The result of one call as text; whatever goes wrong is a text that begins with "error:" and says what.

        Only what is no failure of the tool passes through: KeyboardInterrupt and SystemExit.
        """
        # BEGIN EXERCISE 2.1 Look the tool up, parse the arguments, run it; turn every failure into an "error:" text.
        name, raw = call["function"]["name"], call["function"]["arguments"]
        tool, arguments = self.get(name), parse_arguments(raw)
        if tool is None:
            return f"error: there is no tool {name!r}; available: {', '.join(self._tools) or 'none'}"
        if arguments is None or UNPARSED in arguments:
            return f"error: the arguments of {name} are not a JSON object: {str(raw)[:200]}"
        try:
            return str(tool.run(**arguments))
        except Exception as error:  # the model reads it: this is the tool's answer, not a fault of the loop
            return f"error: {name} failed: {type(error).__name__}: {error}"
        # END EXERCISE 2.1


def run_tool_calls(
    calls: Sequence[Message], run_call: Callable[[Message], str], *, parallel: bool = True
) -> list[Message]:
    """One tool message for each call, in the order of the calls, whatever finished first.

    `run_call(call)` returns a call's result as text, for example `ToolRegistry.dispatch`. With `parallel` several calls
    run in up to 8 threads; without it, or for a single call, they run here one after the other.
    """
    # BEGIN EXERCISE 2.2 Run the calls in threads when that is wanted, and keep the order of the calls.
    if not parallel or len(calls) < 2:
        return [tool_message(call, run_call(call)) for call in calls]
    with ThreadPoolExecutor(max_workers=min(MAX_WORKERS, len(calls))) as pool:
        return [tool_message(call, result) for call, result in zip(calls, pool.map(run_call, calls), strict=True)]
    # END EXERCISE 2.2


class ToolAgent(Agent):
    """An agent whose tools live in a registry."""

    def __init__(self, client: Any, model: str, registry: ToolRegistry, **settings: Any) -> None:
        super().__init__(client, model, tools=registry.schemas(), **settings)
        self.registry = registry

    def act(self, calls: Sequence[Message]) -> list[Message]:
        """One tool message for each call, in the order of the calls."""
        return run_tool_calls(calls, self.run_call, parallel=not any(self.is_sequential(call) for call in calls))

    def is_sequential(self, call: Message) -> bool:
        """Whether this call must not run beside others."""
        tool = self.registry.get(call["function"]["name"])
        return tool is not None and tool.sequential

    def run_call(self, call: Message) -> str:
        """The text of one call's result."""
        name = call["function"]["name"]
        self.on_event("tool_start", tool=name, arguments=parse_arguments(call["function"]["arguments"]) or {})
        return self.registry.dispatch(call)
