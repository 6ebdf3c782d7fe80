"""Chapter 2 · Tools: a registry, errors as results, parallel calls in call order, hooks, approval.

A model asks for a tool by name, with arguments as JSON text. Both can be wrong, and the tool itself can fail. None of
that may end the loop: whatever happens, each call gets exactly one result, and a failure is a result that says so.
The model reads it and tries something else.

    assistant  call 1: slow   call 2: wrong name   call 3: fast        three threads, three durations
    tool       result 1       error: no tool ...   result 3            one result a call, in the order of the calls

Some commands cannot be taken back. Before such a command runs, a person is asked; nobody to ask is a no.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from reference.ch01_agent_loop import Agent, tool_message
from reference.messages import UNPARSED, Message, parse_arguments

MAX_WORKERS = 8
INTERRUPTED = "[No result was recorded for this call: the user interrupted it.]"

# What cannot be taken back, or reaches further than the task. A net, not a wall: a shell can hide anything.
DANGEROUS_COMMANDS = (
    r"\brm\s+(-\w*\s+)*-\w*[rf]|\brm\s.*--(recursive|force)",
    r"\bfind\b.*\s-(delete|exec\s+rm)\b",
    r"\b(mkfs(\.\w+)?|fdisk|parted|wipefs|shred|shutdown|reboot|halt|poweroff)\b",
    r"\bdd\b.*\bof=",
    r">\s*/(dev/(?!null\b)|etc/|boot/|sys/)",
    r"\b(chmod|chown|chgrp)\s+(-\w*R|--recursive)",
    r"\b(curl|wget)\b[^|;&]*\|\s*(sudo\s+)?\w*sh\b",
    r"\bgit\s+(push\s.*(--force|-f\b)|reset\s+--hard|clean\s+-\w*f)",
    r"\b(sudo|doas|su)\b",
    r"\b(kill|pkill|killall)\b.*\s-(9|KILL)\b|\bkill\s+-1\b",
    r"\b(drop|truncate)\s+(table|database|schema)\b|\bdelete\s+from\s+\w+\s*(;|$)",
    r":\s*\(\s*\)\s*\{.*\|.*&.*\}",
)


@dataclass(frozen=True)
class Tool:
    """A function that the model may call: `run(**arguments)` returns the result.

    `parameters` is the JSON schema of the arguments. `sequential` marks a tool whose order among other calls matters,
    since it writes; `interactive` one that asks the user: a batch with either runs its calls one after the other.
    `runs_commands` says that its argument `command` goes to a shell, and has to be approved where it is dangerous.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    run: Callable[..., Any]
    sequential: bool = False
    interactive: bool = False
    runs_commands: bool = False

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

        Only what is no failure of the tool passes through: KeyboardInterrupt and SystemExit. The three texts:
        "error: there is no tool 'x'; available: a, b" (or "none"), "error: the arguments of x are not a JSON object:
        ..." with what came in place of them (also when they hold the key UNPARSED: they were mended on arrival), and
        "error: x failed: ValueError: what it said".

        Example: a call of `greet` with arguments '{"name": "Ada"}' gives str(tool.run(name="Ada")).
        """
        raise NotImplementedError("exercise 2.1: Look the tool up, parse the arguments, run it; turn every failure into an \"error:\" text.")


class ToolThreads(ThreadPoolExecutor):
    """A pool of threads for tool calls; an interrupt does not wait for the call that hangs."""

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.shutdown(wait=error is None, cancel_futures=True)


def run_tool_calls(
    calls: Sequence[Message], run_call: Callable[[Message], str], *, parallel: bool = True
) -> list[Message]:
    """One tool message for each call, in the order of the calls, whatever finished first.

    `run_call(call)` returns a call's result as text, for example `ToolRegistry.dispatch`. With `parallel` several calls
    run in up to 8 threads of a `ToolThreads`; without it, or for a single call, they run here one after the other.

    Example: calls with the ids "a" and "b" give two messages with the `tool_call_id` "a" and "b", also when b was done
    first. `tool_message(call, result)` of chapter 1 makes a message.
    """
    raise NotImplementedError("exercise 2.2: Run the calls in threads when that is wanted, and keep the order of the calls.")


def is_dangerous(command: str) -> bool:
    """Whether a shell command is one of those that a person has to approve: it deletes, overwrites or takes over.

    Example: is_dangerous("rm -rf build") is True, is_dangerous("ls -l") is False.
    """
    raise NotImplementedError("exercise 2.3: Look for each pattern of DANGEROUS_COMMANDS, whatever the case and the white space.")


class ToolAgent(Agent):
    """An agent whose tools live in a registry, with hooks around every call and approval before dangerous commands.

    `pre_tool_call(name, arguments)` and `post_tool_call(name, arguments, result)` are heard in this order, whatever the
    call came to. `approve(command)` asks the user; without it the answer is no.
    """

    def __init__(
        self,
        client: Any,
        model: str,
        registry: ToolRegistry,
        *,
        pre_tool_call: Callable[[str, dict[str, Any]], None] | None = None,
        post_tool_call: Callable[[str, dict[str, Any], str], None] | None = None,
        approve: Callable[[str], bool] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(client, model, tools=registry.schemas(), **settings)
        self.registry = registry
        self.pre_tool_call, self.post_tool_call, self.approve = pre_tool_call, post_tool_call, approve

    def act(self, calls: Sequence[Message]) -> list[Message]:
        """One tool message for each call, in the order of the calls.

        At a KeyboardInterrupt the results that are there are kept, the other calls get INTERRUPTED, and it passes on:
        what has run has run, and the next request must know of it.
        """
        results: dict[int, str] = {}

        def run_call(call: Message) -> str:
            results[id(call)] = result = self.run_call(call)
            return result

        try:
            return run_tool_calls(calls, run_call, parallel=not any(map(self.is_sequential, calls)))
        except KeyboardInterrupt:
            self.remember([tool_message(call, results.get(id(call), INTERRUPTED)) for call in calls])
            raise

    def is_sequential(self, call: Message) -> bool:
        """Whether this call must not run beside others."""
        tool = self.registry.get(call["function"]["name"])
        return tool is not None and (tool.sequential or tool.interactive)

    def run_call(self, call: Message) -> str:
        """The text of one call's result: hook, approval, run, hook."""
        name, arguments = call["function"]["name"], parse_arguments(call["function"]["arguments"]) or {}
        self.on_event("tool_start", tool=name, arguments=arguments)
        self._hear(self.pre_tool_call, name, arguments)
        result = self.refusal(name, arguments) or self.dispatch(call)
        self._hear(self.post_tool_call, name, arguments, result)
        return result

    def dispatch(self, call: Message) -> str:
        """The text that the tool itself gives; chapter 12 intercepts its own tools here."""
        return self.registry.dispatch(call)

    def refusal(self, name: str, arguments: dict[str, Any]) -> str:
        """The result of a dangerous command that was not approved, or "" for a call that may run."""
        tool, command = self.registry.get(name), str(arguments.get("command", ""))
        if tool is None or not tool.runs_commands or not is_dangerous(command):
            return ""
        if self.approve is not None and self.approve(command):
            return ""
        return f"error: the user did not approve this command: {command[:200]}"

    def _hear(self, hook: Callable[..., None] | None, *data: Any) -> None:
        """Call a hook; one that fails is reported, and the call still gets its result."""
        try:
            if hook is not None:
                hook(*data)
        except Exception as error:  # a listener must not cost a result
            self.on_event("hook_failed", error=error)
