"""Faults on demand, as the real client sees them."""

import httpx
import openai
import pytest

from course.provider import Fault, Model, Provider

HI = [{"role": "user", "content": "hi"}]
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
MODELS = [
    Model("agent", 8_192, lambda body: {"role": "assistant", "content": "one two three four", "tool_calls": [CALL]}),
    Model("summariser", 8_192, lambda body: {"role": "assistant", "content": "one two three four"}),
]


def outcome(client, model="summariser"):
    """What a call came to: the error's class name, or finish reason and text."""
    try:
        choice = client.chat.completions.create(model=model, messages=HI).choices[0]
    except openai.APIError as error:
        return type(error).__name__
    return choice.finish_reason, choice.message.content


OK = ("stop", "one two three four")
KINDS = [
    ("rate_limit", "RateLimitError", 429),
    ("server_error", "InternalServerError", 500),
    ("drop", "APIConnectionError", None),
    ("empty", ("stop", ""), 200),
    ("length", ("length", "one two"), 200),
    ("slow", OK, 200),
]


@pytest.mark.parametrize(("kind", "expected", "status"), KINDS)
def test_each_kind_at_the_call_asked_for(kind, expected, status):
    with Provider(MODELS, [Fault(kind, at=2, seconds=0)]) as provider:
        client = provider.client()
        assert [outcome(client) for _ in range(3)] == [OK, expected, OK]
    assert [(e.status, e.fault) for e in provider.log] == [(200, None), (status, kind), (200, None)]


@pytest.mark.parametrize(
    ("fault", "calls", "struck", "why"),
    [
        (Fault("server_error"), "aaa", [1, 2, 3], "neither at nor every: all"),
        (Fault("server_error", at=(1, 3)), "aaaa", [1, 3], "several"),
        (Fault("server_error", every=2), "aaaaa", [2, 4], "each second"),
        (Fault("server_error", at=1, every=3), "aaaa", [1, 3], "both"),
        (Fault("server_error", model="summariser", at=2), "asasas", [4], "counted within the model"),
        (Fault("server_error", at=()), "aa", [], "an empty list is none"),
    ],
)
def test_which_calls_are_hit(fault, calls, struck, why):
    with Provider(MODELS, [fault]) as provider:
        client = provider.client()
        for name in calls:
            outcome(client, {"a": "agent", "s": "summariser"}[name])
    assert [e.number for e in provider.log if e.status == 500] == struck, why


def test_retry_after_is_a_header_and_a_sentence():
    fault = Fault("rate_limit", retry_after=7)
    with Provider(MODELS, [fault]) as provider, pytest.raises(openai.RateLimitError) as caught:
        provider.client().chat.completions.create(model="agent", messages=HI)
    assert caught.value.response.headers["retry-after"] == "7"
    assert "Please try again in 7s" in caught.value.message


def test_a_client_that_retries_gets_through():
    with Provider(MODELS, [Fault("rate_limit", at=1, retry_after=0)]) as provider:
        assert outcome(provider.client(max_retries=1)) == OK
    assert [e.status for e in provider.log] == [429, 200]


def test_slow_is_slow_for_the_one_who_waits_and_for_nobody_else():
    with Provider(MODELS, [Fault("slow", at=1, seconds=30)]) as provider:
        with pytest.raises(openai.APITimeoutError):
            provider.client(timeout=0.3).chat.completions.create(model="agent", messages=HI)
        assert outcome(provider.client()) == OK


def test_length_cuts_calls_too():
    with Provider(MODELS, [Fault("length")]) as provider:
        choice = provider.client().chat.completions.create(model="agent", messages=HI).choices[0]
    assert (choice.finish_reason, choice.message.content, choice.message.tool_calls) == (
        "length",
        "one two three",
        None,
    )


@pytest.mark.parametrize(
    ("header", "status", "retry_after"),
    [
        ("rate_limit", 429, "1"),
        ("rate_limit=2.5", 429, "2.5"),
        ("server_error", 500, None),
        ("slow=0", 200, None),
        ("flood", 400, None),
        ("rate_limit=soon", 400, None),
        ("slow=nan", 400, None),
        ("slow=-1", 400, None),
    ],
)
def test_a_foreign_client_asks_with_a_header(header, status, retry_after):
    with Provider(MODELS) as provider:
        answer = httpx.post(
            provider.base_url + "/chat/completions",
            json={"model": "agent", "messages": HI},
            headers={"Authorization": f"Bearer {provider.key}", "x-course-fault": header},
            trust_env=False,
        )
    assert (answer.status_code, answer.headers.get("retry-after")) == (status, retry_after)


@pytest.mark.parametrize("wrong", [{"kind": "flood"}, {"kind": "slow", "seconds": -1}, {"kind": "drop", "every": 0}])
def test_a_fault_that_cannot_be_is_refused_at_once(wrong):
    with pytest.raises(ValueError, match=r"expected|negative"):
        Fault(**wrong)
