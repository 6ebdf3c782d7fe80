"""What goes over the wire: statuses, the error envelope, plain and streamed replies, read by the real client."""

import json

import httpx
import openai
import pytest
from openai.types.chat.completion_create_params import CompletionCreateParamsBase

from course.provider import Model, Provider, default_models
from course.provider.clock import EPOCH
from course.provider.request import PARAMETERS

HI = [{"role": "user", "content": "hi"}]
TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}}}
CALLS = [
    {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a b.md"}'}},
    {"id": "b", "type": "function", "function": {"name": "list_files", "arguments": "{}"}},
]
TEXT = "Zwei  Dateien:\n  a.md,\tb.md 漢字 😀.\n"


def replying(**message):
    return lambda body: {"role": "assistant", "content": None} | message


def failing(body):
    raise KeyError("a secret of the model")


def leaving(body):
    raise SystemExit


MODELS = (
    Model("text", 8_192, replying(content=TEXT)),
    Model("calls", 8_192, replying(content="I look.", tool_calls=CALLS)),
    Model("nothing", 8_192, replying()),
    Model("failing", 8_192, failing),
    Model("leaving", 8_192, leaving),
    Model("no-dict", 8_192, lambda body: "hello"),
    Model("no-list", 8_192, replying(tool_calls="x")),
    Model("surrogate", 8_192, replying(content="\ud800")),
)


@pytest.fixture(scope="module")
def provider():
    with Provider(MODELS) as provider:
        yield provider


@pytest.fixture(scope="module")
def client(provider):
    return provider.client()


@pytest.fixture(scope="module")
def raw(provider):
    root = provider.base_url.removesuffix("/v1")
    with httpx.Client(base_url=root, trust_env=False, headers={"Authorization": f"Bearer {provider.key}"}) as client:
        yield client


REFUSED = [
    # method, path, what is sent, status, code, why
    ("POST", "/v1/chat/completions", {"content": "{"}, 400, "invalid_json", "not JSON"),
    ("POST", "/v1/chat/completions", {"content": b"\xff\xfe"}, 400, "invalid_json", "not UTF-8"),
    ("POST", "/v1/chat/completions", {"content": "[" * 100_000}, 400, "invalid_json", "too deep for the parser"),
    (
        "POST",
        "/v1/chat/completions",
        {"content": '{"seed": NaN}'},
        400,
        "invalid_json",
        "Python reads it, JSON does not",
    ),
    ("POST", "/v1/chat/completions", {"content": "{}".encode("utf-16")}, 400, "invalid_json", "UTF-8 only"),
    ("POST", "/v1/chat/completions", {"json": [1]}, 400, "invalid_json", "not an object"),
    ("POST", "/v1/chat/completions", {"json": {"messages": HI}}, 404, "model_not_found", "no model"),
    ("POST", "/v1/chat/completions", {"json": {"messages": HI, "model": "gpt"}}, 404, "model_not_found", "unknown"),
    ("POST", "/v1/chat/completions", {"json": {"messages": HI, "model": ["text"]}}, 404, "model_not_found", "a list"),
    ("POST", "/v1/chat/completions", {"json": {"model": "text"}}, 400, "messages", "no messages"),
    ("POST", "/v1/chat/completions", {"content": " " * 10_000_001}, 413, "request_too_large", "answered, not cut off"),
    ("GET", "/v1/models/gpt", {}, 404, "model_not_found", "unknown model"),
    ("GET", "/v1/nothing", {}, 404, "unknown_url", "unknown route"),
    ("GET", "/v1/models/", {}, 404, "unknown_url", "no redirect"),
    ("GET", "/v1/chat/completions", {}, 405, "method_not_supported", "wrong method"),
    ("DELETE", "/v1/models", {}, 405, "method_not_supported", "wrong method"),
]


@pytest.mark.parametrize(("method", "path", "sent", "status", "code", "why"), REFUSED)
def test_refusals_come_in_the_envelope(raw, method, path, sent, status, code, why):
    answer = raw.request(method, path, **sent)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), why
    assert set(answer.json()["error"]) == {"message", "type", "param", "code"}
    assert answer.json()["error"]["message"]


@pytest.mark.parametrize("header", [None, "", "Bearer", "Bearer sk-other", "Basic sk-offline", "Bearer sk-öfflinë"])
@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/models"), ("POST", "/v1/chat/completions")])
def test_only_the_key_opens(provider, raw, header, method, path):
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    with httpx.Client(base_url=raw.base_url, trust_env=False) as stranger:
        answer = stranger.request(method, path, headers=headers)
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")
    assert "sk-other" not in answer.text, "a key is not repeated: it may be a real one"


PARAMETER_ROWS = [
    # parameters, the one that is named in the error (None: taken), why
    ({"timeout": 3}, "timeout", "not a parameter of the wire"),
    ({"functions": []}, "functions", "deprecated"),
    ({"max_tokens": 0}, "max_tokens", "nothing to say"),
    ({"max_tokens": 1.5}, "max_tokens", "no half tokens"),
    ({"max_tokens": True}, "max_tokens", "a bool is no number on the wire"),
    ({"max_completion_tokens": -1}, "max_completion_tokens", "negative"),
    ({"max_tokens": 5, "max_completion_tokens": 5}, "max_tokens", "one or the other"),
    ({"stream": "yes"}, "stream", "not a boolean"),
    ({"stream": 1}, "stream", "not a boolean either"),
    ({"stream_options": {"include_usage": True}}, "stream_options", "without stream"),
    ({"n": 2}, "n", "one choice only"),
    ({"temperature": 3}, "temperature", "out of range"),
    ({"user": "\ud800"}, "user", "a lone surrogate never reaches the tokenizer"),
    ({"tools": []}, "tools", "an empty list"),
    ({"tools": "x"}, "tools", "not a list"),
    ({"tools": [TOOL, {"type": "function"}]}, "tools.[1]", "no function"),
    ({"tools": [TOOL["function"]]}, "tools.[0]", "the function without its wrapping"),
    ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools.[0]", "a name with a space"),
    ({"tools": [{"type": "function", "function": {"name": "a", "parameters": "x"}}]}, "tools.[0]", "no schema"),
    ({"tools": [{"type": "function", "function": {"name": "a", "handler": "x"}}]}, "tools.[0]", "an unknown key"),
    ({"tools": [{"type": "function", "function": {"name": "a", "description": "\ud800"}}]}, "tools", "in a schema"),
    ({"tool_choice": "auto"}, "tool_choice", "without tools"),
    ({"tools": [TOOL], "tool_choice": "auto", "parallel_tool_calls": True}, None, "with tools"),
    ({"max_tokens": None, "stop": None, "n": None}, None, "null is the same as nothing"),
    ({"n": 1, "temperature": 0, "seed": 7, "stop": ["x"], "metadata": {}}, None, "of their types"),
]


@pytest.mark.parametrize(("parameters", "param", "why"), PARAMETER_ROWS)
def test_parameters(raw, parameters, param, why):
    content = json.dumps({"model": "text", "messages": HI} | parameters)
    answer = raw.post("/v1/chat/completions", content=content)
    assert answer.status_code == (200 if param is None else 400), why
    if param:
        assert answer.json()["error"]["param"] == param
        assert "(rule: parameters)" in answer.json()["error"]["message"]


def test_every_parameter_of_the_installed_client_is_known():
    assert set(CompletionCreateParamsBase.__annotations__) - {"functions", "function_call"} <= set(PARAMETERS)


def test_a_broken_rule_reaches_the_client_with_rule_and_place(client, provider):
    messages = [*HI, {"role": "tool", "tool_call_id": "a", "content": "x"}]
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="text", messages=messages)
    assert (caught.value.code, caught.value.param) == ("orphan_result", "messages.[1].role")
    assert "must be a response to a preceding message with 'tool_calls'" in caught.value.message
    assert provider.log[-1].error["code"] == "orphan_result"
    assert provider.log[-1].body["messages"] == messages


def test_a_lax_provider_takes_two_users():
    with Provider(MODELS, strict_alternation=False) as lax:
        assert lax.client().chat.completions.create(model="text", messages=HI * 2).choices[0].message.content == TEXT


@pytest.mark.parametrize("name", ["failing", "leaving", "no-dict", "no-list", "surrogate"])
def test_a_failing_model_is_a_500_and_its_traceback_stays_in_the_log(client, provider, name):
    with pytest.raises(openai.InternalServerError) as caught:
        client.chat.completions.create(model=name, messages=HI)
    assert caught.value.body["type"] == "server_error"
    assert "Traceback" not in str(caught.value.body)
    assert "secret" not in str(caught.value.body)
    assert "Traceback" in provider.log[-1].error["detail"]
    assert client.chat.completions.create(model="text", messages=HI).choices[0].message.content == TEXT


def streamed(client, model):
    """The message, finish reason and usage that the chunks of a stream add up to."""
    text, calls, reason, usage = None, {}, None, None
    for chunk in client.chat.completions.create(
        model=model, messages=HI, stream=True, stream_options={"include_usage": True}
    ):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            reason = choice.finish_reason or reason
            if choice.delta.content is not None:
                text = (text or "") + choice.delta.content
            for delta in choice.delta.tool_calls or ():
                at = calls.setdefault(delta.index, {"id": delta.id, "name": delta.function.name, "arguments": ""})
                at["arguments"] += delta.function.arguments
    return text, [calls[index] for index in sorted(calls)], reason, usage


@pytest.mark.parametrize(("model", "reason"), [("text", "stop"), ("calls", "tool_calls"), ("nothing", "stop")])
def test_streamed_equals_plain(client, model, reason):
    plain = client.chat.completions.create(model=model, messages=HI)
    message = plain.choices[0].message
    text, calls, streamed_reason, usage = streamed(client, model)
    assert text == message.content
    assert calls == [
        {"id": c.id, "name": c.function.name, "arguments": c.function.arguments} for c in message.tool_calls or ()
    ]
    assert streamed_reason == plain.choices[0].finish_reason == reason
    assert usage == plain.usage


def test_stream_is_server_sent_events_in_pieces(raw):
    answer = raw.post("/v1/chat/completions", json={"model": "text", "messages": HI, "stream": True})
    assert answer.headers["content-type"].startswith("text/event-stream")
    events = answer.text.split("\n\n")
    assert events[-2:] == ["data: [DONE]", ""]
    chunks = [json.loads(event.removeprefix("data: ")) for event in events[:-2]]
    assert chunks[0]["choices"][0]["delta"]["role"] == "assistant"
    assert sum(bool(chunk["choices"][0]["delta"].get("content")) for chunk in chunks) > 3
    assert chunks[-1]["choices"][0]["finish_reason"] == "stop"
    assert len({chunk["id"] for chunk in chunks}) == 1
    assert all("usage" not in chunk for chunk in chunks), "only when stream_options asks for it"


def test_models_and_health(client, raw):
    assert [model.id for model in client.models.list()] == [model.name for model in MODELS]
    assert client.models.retrieve("text").id == "text"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("gpt")
    assert httpx.get(str(raw.base_url.join("/health")), trust_env=False).json() == {"status": "ok"}


def test_the_default_models_and_their_windows():
    windows = {model.name: model.context_length for model in default_models()}
    assert windows == {"sim-8k": 8_192, "sim-32k": 32_768, "sim-128k": 131_072, "sim-summarizer": 32_768}


def test_two_runs_give_the_same_bytes():
    def run():
        with Provider(MODELS) as provider:
            client = provider.client()
            return [
                client.chat.completions.with_raw_response.create(model=name, messages=HI).text
                for name in ("text", "calls", "text")
            ]

    first = run()
    assert first == run()
    assert [json.loads(answer)["id"] for answer in first] == [f"chatcmpl-{n:06}" for n in (1, 2, 3)]
    assert [json.loads(answer)["created"] for answer in first] == [EPOCH, EPOCH + 1, EPOCH + 2]


def test_the_log_has_every_chat_request_in_order(client):
    with Provider(MODELS) as provider:
        client = provider.client()
        client.chat.completions.create(model="calls", messages=HI)
        with pytest.raises(openai.NotFoundError):
            client.chat.completions.create(model="gpt", messages=HI)
        with pytest.raises(openai.AuthenticationError):
            provider.client(api_key="sk-mine").chat.completions.create(model="text", messages=HI)
        log = provider.log
    assert [(e.number, e.model, e.status) for e in log] == [(1, "calls", 200), (2, None, 404), (3, None, 401)]
    assert log[0].reply == {"role": "assistant", "content": "I look.", "tool_calls": CALLS}
    assert log[0].error is None
    assert log[0].finish_reason == "tool_calls"
    assert log[1].error["code"] == "model_not_found"
    assert "sk-mine" not in repr(log)
