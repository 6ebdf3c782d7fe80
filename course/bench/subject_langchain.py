"""LangChain: SummarizationMiddleware with a fixed text for a summary; the system prompt is kept apart, as it does."""

from __future__ import annotations

import json
from typing import Any

from langchain.agents.middleware.summarization import SummarizationMiddleware
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.messages import AIMessage, HumanMessage, RemoveMessage, ToolMessage

from course.bench.histories import Message

SUMMARY = "## Goal\n" + "x" * 1_500


def prepare(messages: list[Message]) -> tuple[list[Message], list[Any]]:
    """(the system prompt, the other messages as LangChain's)."""
    system = [message for message in messages if message["role"] == "system"]
    others = enumerate(message for message in messages if message["role"] != "system")
    return system, [_native(message, f"m{place}") for place, message in others]


def _native(message: Message, name: str) -> Any:
    content = message.get("content") or ""
    if message["role"] == "user":
        return HumanMessage(content, id=name)
    if message["role"] == "tool":
        return ToolMessage(content, tool_call_id=message["tool_call_id"], id=name)
    calls = [
        {"id": call["id"], "name": call["function"]["name"], "args": _object(call), "type": "tool_call"}
        for call in message.get("tool_calls") or ()
    ]
    return AIMessage(content, tool_calls=calls, id=name)


def _object(call: Message) -> dict[str, Any]:
    try:
        value = json.loads(call["function"]["arguments"])
    except ValueError:
        value = {"unparsed": call["function"]["arguments"]}
    return value if isinstance(value, dict) else {"unparsed": value}


def run(native: tuple[list[Message], list[Any]], keep: int) -> tuple[list[Message], list[Any]]:
    """The messages with all but `keep` tokens summarised."""
    middleware = SummarizationMiddleware(
        model=FakeListChatModel(responses=[SUMMARY]),
        trigger=("messages", 2),
        keep=("tokens", keep),
        summarizer=lambda messages: SUMMARY,
    )
    update = middleware.before_model({"messages": list(native[1])}, None)
    return native[0], native[1] if update is None else update["messages"]


def restore(result: tuple[list[Message], list[Any]]) -> list[Message]:
    """The result in OpenAI's form."""
    kept = [message for message in result[1] if not isinstance(message, RemoveMessage)]
    return [*result[0], *map(_plain, kept)]


def _plain(message: Any) -> Message:
    if isinstance(message, HumanMessage):
        return {"role": "user", "content": message.content}
    if isinstance(message, ToolMessage):
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    plain: Message = {"role": "assistant", "content": message.content}
    if message.tool_calls:
        plain["tool_calls"] = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["args"])},
            }
            for call in message.tool_calls
        ]
    return plain
