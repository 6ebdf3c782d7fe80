"""The request body beside its messages: known parameters only, each of its type."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from course.provider.envelope import ApiError
from course.provider.message_rules import bad_text, read_json, shown

Body = dict[str, Any]


def _is(kind: Any) -> Callable[[Any], bool]:
    # In Python a bool is an int; on the wire it is not.
    return lambda value: isinstance(value, kind) and (kind is bool or not isinstance(value, bool))


def _positive(value: Any) -> bool:
    return _is(int)(value) and value > 0


BOOLEAN, STRING, ARRAY, OBJECT = (
    (_is(bool), "a boolean"),
    (_is(str), "a string"),
    (_is(list), "an array"),
    (_is(dict), "an object"),
)
NUMBER, INTEGER, POSITIVE = (_is(int | float), "a number"), (_is(int), "an integer"), (_positive, "a positive integer")

# The parameters of Chat Completions without the deprecated `functions` and `function_call`.
PARAMETERS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "messages": ARRAY,
    "model": STRING,
    "audio": OBJECT,
    "frequency_penalty": NUMBER,
    "logit_bias": OBJECT,
    "logprobs": BOOLEAN,
    "max_completion_tokens": POSITIVE,
    "max_tokens": POSITIVE,
    "metadata": OBJECT,
    "modalities": ARRAY,
    "moderation": OBJECT,
    "n": (lambda value: _is(int)(value) and value == 1, "1, the only number of choices here"),
    "parallel_tool_calls": BOOLEAN,
    "prediction": OBJECT,
    "presence_penalty": NUMBER,
    "prompt_cache_key": STRING,
    "prompt_cache_options": OBJECT,
    "prompt_cache_retention": STRING,
    "reasoning_effort": STRING,
    "response_format": OBJECT,
    "safety_identifier": STRING,
    "seed": INTEGER,
    "service_tier": STRING,
    "stop": (_is(str | list), "a string or an array"),
    "store": BOOLEAN,
    "stream": BOOLEAN,
    "stream_options": OBJECT,
    "temperature": (lambda value: _is(int | float)(value) and 0 <= value <= 2, "a number from 0 to 2"),
    "tool_choice": (_is(str | dict), "'none', 'auto', 'required' or an object"),
    "tools": ARRAY,
    "top_logprobs": INTEGER,
    "top_p": (lambda value: _is(int | float)(value) and 0 <= value <= 1, "a number from 0 to 1"),
    "user": STRING,
    "verbosity": STRING,
    "web_search_options": OBJECT,
}
TOOL_KEYS = {"name", "description", "parameters", "strict"}
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def parse(raw: bytes) -> Body:
    """The body as an object; ApiError 400 when it is not JSON or not an object."""
    try:
        body = read_json(raw.decode("utf-8"))
    except (ValueError, RecursionError):
        text = "We could not parse the JSON body of your request. Expected one JSON object in UTF-8."
        raise ApiError(400, text, code="invalid_json") from None
    if not isinstance(body, dict):
        raise ApiError(400, f"Invalid body: expected a JSON object, found {shown(body)}.", code="invalid_json")
    return body


def check(body: Body) -> None:
    """Raises ApiError 400 for the first parameter, messages aside, that is unknown or not of its type."""
    for name, value in body.items():
        if name not in PARAMETERS:
            raise _refusal(name, f"Unrecognized request argument supplied: {shown(name)}", "unknown_parameter")
        good, expected = PARAMETERS[name]
        if name != "messages" and value is not None and not good(value):
            raise _refusal(name, f"Invalid value for '{name}': expected {expected}, found {shown(value)}.")
        if name != "messages" and (problem := bad_text(value)):
            raise _refusal(name, f"Invalid text in '{name}': {problem}.")
    _check_tools(body)
    _check_pairs(body)


def output_limit(body: Body) -> int | None:
    """The most tokens that the reply may have, as the request says, or None."""
    return body.get("max_completion_tokens") or body.get("max_tokens")


def _check_tools(body: Body) -> None:
    tools = body.get("tools")
    if tools == []:
        raise _refusal("tools", "Invalid 'tools': empty array. Leave the key out when there is no tool.")
    for index, tool in enumerate(tools or ()):
        if problem := _bad_tool(tool):
            param = f"tools.[{index}]"
            raise _refusal(param, f"Invalid value for '{param}': {problem}.")


def _bad_tool(tool: Any) -> str | None:
    function = tool.get("function") if isinstance(tool, dict) and tool.get("type") == "function" else None
    if not isinstance(function, dict) or tool.keys() != {"type", "function"}:
        return f"expected {{'type': 'function', 'function': {{...}}}}, found {shown(tool)}"
    name = function.get("name")
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        return f"a function's name is 1 to 64 letters, digits, '_' or '-', found {shown(name)}"
    if unknown := function.keys() - TOOL_KEYS:
        return f"unknown key {shown(min(unknown))} in the function {name}"
    if not isinstance(function.get("parameters", {}), dict):
        return f"parameters of {name} must be an object, found {shown(function['parameters'])}"
    if not isinstance(function.get("description", ""), str):
        return f"the description of {name} must be a string"
    return None


def _check_pairs(body: Body) -> None:
    """What is allowed only together with something else, or only without it."""
    for name in ("tool_choice", "parallel_tool_calls"):
        if body.get(name) is not None and not body.get("tools"):
            raise _refusal(name, f"'{name}' is only allowed when 'tools' are specified.")
    if body.get("stream_options") is not None and not body.get("stream"):
        raise _refusal("stream_options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
    if body.get("max_tokens") is not None and body.get("max_completion_tokens") is not None:
        text = "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported."
        raise _refusal("max_tokens", text)


def _refusal(param: str, text: str, code: str = "invalid_value") -> ApiError:
    return ApiError(400, f"{text} (rule: parameters)", param=param, code=code)
