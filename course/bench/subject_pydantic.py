"""summarization-pydantic-ai: SummarizationProcessor with a function for a model that returns a fixed text."""

from __future__ import annotations

import asyncio
from typing import Any

from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models.function import FunctionModel
from pydantic_ai_summarization import SummarizationProcessor

from course.bench.histories import Message, plain

SUMMARY = "## Goal\n" + "x" * 1_500


def prepare(messages: list[Message]) -> list[Any]:
    """The messages as Pydantic AI's: results that follow each other are parts of one request."""
    native: list[Any] = []
    names: dict[str, str] = {}
    for message in messages:
        calls = message.get("tool_calls") or ()
        names.update({call["id"]: call["function"]["name"] for call in calls})
        if message["role"] == "assistant":
            parts: list[Any] = [TextPart(plain(message["content"]))] if message.get("content") else []
            parts += [ToolCallPart(c["function"]["name"], c["function"]["arguments"], c["id"]) for c in calls]
            native.append(ModelResponse(parts=parts))
        elif message["role"] == "tool" and isinstance(native[-1], ModelRequest):
            native[-1].parts.append(_return(message, names))
        else:
            native.append(ModelRequest(parts=[_request(message, names)]))
    return native


def _request(message: Message, names: dict[str, str]) -> Any:
    if message["role"] == "system":
        return SystemPromptPart(plain(message["content"]))
    return UserPromptPart(plain(message["content"])) if message["role"] == "user" else _return(message, names)


def _return(message: Message, names: dict[str, str]) -> Any:
    call_id = message["tool_call_id"]
    return ToolReturnPart(names.get(call_id, "tool"), plain(message.get("content")), call_id)


def run(native: list[Any], keep: int) -> list[Any]:
    """The messages with all but `keep` tokens summarised."""
    model = FunctionModel(lambda messages, info: ModelResponse(parts=[TextPart(SUMMARY)]))
    processor = SummarizationProcessor(model=model, trigger=("messages", 2), keep=("tokens", keep))
    return asyncio.run(processor([type(message)(parts=list(message.parts)) for message in native]))


def restore(result: list[Any]) -> list[Message]:
    """The result in OpenAI's form."""
    return [plain for message in result for plain in _plain(message)]


def _plain(message: Any) -> list[Message]:
    if isinstance(message, ModelResponse):
        text = "".join(part.content for part in message.parts if isinstance(part, TextPart))
        calls = [
            {
                "id": part.tool_call_id,
                "type": "function",
                "function": {"name": part.tool_name, "arguments": part.args_as_json_str()},
            }
            for part in message.parts
            if isinstance(part, ToolCallPart)
        ]
        return [{"role": "assistant", "content": text} | ({"tool_calls": calls} if calls else {})]
    return [_plain_part(part) for part in message.parts]


def _plain_part(part: Any) -> Message:
    if isinstance(part, ToolReturnPart):
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": str(part.content)}
    return {"role": "system" if isinstance(part, SystemPromptPart) else "user", "content": part.content}
