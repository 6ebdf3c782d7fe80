"""The rule table: for each rule what breaks it, and what looks close but is taken."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.provider import rules
from course.provider.tokens import Tokenizer


def system(content="You are careful."):
    return {"role": "system", "content": content}


def user(content="Read both files."):
    return {"role": "user", "content": content}


def said(content="Done."):
    return {"role": "assistant", "content": content}


def call(call_id="a", arguments="{}", name="read_file", **other):
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}} | other


def calling(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(call_id="a", content="text"):
    return {"role": "tool", "tool_call_id": call_id, "content": content}


PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
KEYS = ["role", "content", "name", "refusal", "audio", "tool_call_id", "tool_calls"]
ODD = st.sampled_from([None, 7, True, "", "x", "\ud800", "\0", "<|endoftext|>", [], {}, [None], [{}]])
PART = st.sampled_from([PICTURE, {"type": "text", "text": "x"}, {"type": "file", "file": {"a": 1}}, {"type": "text"}])
VALUES = st.one_of(st.sampled_from(["user", "assistant"]), ODD, st.lists(PART, min_size=1))
GROUP = [calling(call("a")), result("a")]

REFUSED = [
    # rule, messages, index, param, why
    ("messages", None, None, "messages", "the key is missing"),
    ("messages", [], None, "messages", "nothing to answer"),
    ("messages", {"role": "user"}, None, "messages", "an object is not a list"),
    ("messages", [user(), "hello"], 1, "messages.[1]", "a string is not a message"),
    ("role", [{"content": "hi"}], 0, "messages.[0].role", "no role"),
    ("role", [user(), {"role": "function", "content": "x"}], 1, "messages.[1].role", "a role of former times"),
    ("role", [{"role": ["user"], "content": "hi"}], 0, "messages.[0].role", "a list cannot be looked up in a table"),
    ("system_first", [user(), said(), system()], 2, "messages.[2].role", "a system message in the middle"),
    ("system_first", [system(), system(), user()], 1, "messages.[1].role", "two of them"),
    ("system_first", [system(), {"role": "developer", "content": "x"}, user()], 1, "messages.[1].role", "an alias"),
    ("user_first", [system()], None, "messages", "nobody asked"),
    ("user_first", [system(), said(), user()], 1, "messages.[1].role", "the answer comes first"),
    ("user_first", [said()], 0, "messages.[0].role", "also without a system message"),
    ("alternation", [user(), user()], 1, "messages.[1].role", "two users"),
    ("alternation", [user(), said(), said()], 2, "messages.[2].role", "two assistants"),
    ("alternation", [user(), said(), *GROUP], 2, "messages.[2].role", "a call counts as an assistant"),
    ("orphan_result", [user(), result()], 1, "messages.[1].role", "no call at all"),
    ("orphan_result", [user(), said(), result()], 2, "messages.[2].role", "the assistant called nothing"),
    ("orphan_result", [user(), *GROUP, user(), result("a")], 4, "messages.[4].role", "its group is over"),
    ("orphan_result", [user(), *GROUP, result("z")], 3, "messages.[3].tool_call_id", "in the group, of no call"),
    ("orphan_result", [user(), calling(call("a")), {"role": "tool", "content": "x"}], 2, "messages.[2].tool_call_id",
     "no id"),
    ("missing_result", [user(), calling(call("a"))], 1, "messages.[1].tool_calls", "still in flight"),
    ("missing_result", [user(), calling(call("a"), call("b")), result("b")], 1, "messages.[1].tool_calls", "1 of 2"),
    ("missing_result", [user(), calling(call("a")), user(), result("a")], 1, "messages.[1].tool_calls",
     "something stands between"),
    ("missing_result", [user(), *GROUP, calling(call("a"))], 3, "messages.[3].tool_calls",
     "an id that was answered in an earlier group"),
    ("repeated_result", [user(), *GROUP, result("a")], 3, "messages.[3].tool_call_id", "answered twice"),
    ("tool_calls", [user(), {"role": "assistant", "content": "x", "tool_calls": []}], 1, "messages.[1].tool_calls",
     "an empty list is not the same as no key"),
    ("tool_calls", [user(), {"role": "assistant", "content": "x", "tool_calls": None}], 1, "messages.[1].tool_calls",
     "what model_dump() leaves behind"),
    ("tool_calls", [user(), calling("a")], 1, "messages.[1].tool_calls.[0]", "a string is not a call"),
    ("tool_calls", [user(), calling(call("")), result("")], 1, "messages.[1].tool_calls.[0].id", "an empty id"),
    ("tool_calls", [user(), calling(call(type="custom")), result()], 1, "messages.[1].tool_calls.[0].type", "a type"),
    ("tool_calls", [user(), calling(call(function=None)), result()], 1, "messages.[1].tool_calls.[0].function", "none"),
    ("tool_calls", [user(), calling(call(name="")), result()], 1, "messages.[1].tool_calls.[0].function.name", "none"),
    ("arguments", [user(), calling(call(arguments='{"path": "a')), result()], 1,
     "messages.[1].tool_calls.[0].function.arguments", "cut in mid-JSON"),
    ("arguments", [user(), calling(call(arguments="[1]")), result()], 1,
     "messages.[1].tool_calls.[0].function.arguments", "a list is not an object"),
    ("arguments", [user(), calling(call(arguments={})), result()], 1,
     "messages.[1].tool_calls.[0].function.arguments", "an object is not a string"),
    ("arguments", [user(), calling(call(arguments='{"x": NaN}')), result()], 1,
     "messages.[1].tool_calls.[0].function.arguments", "Python reads NaN, JSON does not"),
    ("arguments", [user(), calling(call(arguments="[" * 100_000)), result()], 1,
     "messages.[1].tool_calls.[0].function.arguments", "too deep for the parser"),
    ("repeated_id", [user(), calling(call("a"), call("a")), result("a")], 1, "messages.[1].tool_calls.[1].id", "twice"),
    ("empty_assistant", [user(), said("")], 1, "messages.[1].content", "says nothing"),
    ("empty_assistant", [user(), said(" \n")], 1, "messages.[1].content", "blank is nothing"),
    ("empty_assistant", [user(), said([{"type": "text", "text": ""}])], 1, "messages.[1].content", "an empty part"),
    ("content", [{"role": "user"}], 0, "messages.[0].content", "no content"),
    ("content", [user(None)], 0, "messages.[0].content", "None only beside calls"),
    ("content", [user([])], 0, "messages.[0].content", "an empty list"),
    ("content", [user(7)], 0, "messages.[0].content", "a number"),
    ("content", [user(["hi"])], 0, "messages.[0].content.[0]", "a string is not a part"),
    ("content", [user([{"type": "video", "video": "x"}])], 0, "messages.[0].content.[0]", "an unknown part"),
    ("content", [user([{"type": "text"}])], 0, "messages.[0].content.[0]", "text without text"),
    ("content", [user([PICTURE, {"type": "image_url", "image_url": "x"}])], 0, "messages.[0].content.[1]", "no url"),
    ("content", [user([{"type": "input_audio", "input_audio": {"data": "AA"}}])], 0, "messages.[0].content.[0]",
     "sound without its format"),
    ("content", [user([{"type": "file", "file": {}}])], 0, "messages.[0].content.[0]", "no file in it"),
    ("content", [user(), *GROUP[:1], result(content=None)], 2, "messages.[2].content", "a tool that returned None"),
    ("text", [user("half a \ud83d")], 0, "messages.[0]", "a lone surrogate"),
    ("text", [user("a\0b")], 0, "messages.[0]", "NUL"),
    ("text", [user(), calling(call("a\0")), result("a\0")], 1, "messages.[1]", "at any depth"),
    ("keys", [user() | {"timestamp": 1}], 0, "messages.[0].timestamp", "an internal key"),
    ("keys", [user(), said() | {"reasoning": "hm"}], 1, "messages.[1].reasoning", "thoughts are not sent back"),
    ("keys", [user() | {"tool_calls": [call()]}], 0, "messages.[0].tool_calls", "a user calls nothing"),
    ("keys", [user() | {"name": 7}], 0, "messages.[0].name", "a name is text"),
]  # fmt: skip

TAKEN = [
    ([user()], "no system message is needed"),
    ([system(), user()], "one is fine"),
    ([{"role": "developer", "content": "x"}, user()], "developer is another word for system"),
    ([user(), said(), user()], "they take turns"),
    ([user(), *GROUP], "the model goes on from a result"),
    ([user(), *GROUP, user()], "a user may interrupt after results"),
    ([user(), *GROUP, said(), user()], "or the assistant answers"),
    ([user(), calling(call("a"), call("b")), result("b"), result("a")], "results in any order"),
    ([user(), *GROUP, *GROUP], "an id comes again in a later group"),
    ([user(), calling(call(arguments='{"a": {"b": [1, "x\\u0000"]}}')), result()], "an escaped NUL is no NUL"),
    ([user(), calling(call(), content="Let me look."), result()], "text beside calls"),
    ([user(), calling(call(), content=""), result()], "empty text beside calls"),
    ([user(), {"role": "assistant", "tool_calls": [call()]}, result()], "content left out beside calls"),
    ([user(""), said()], "an empty request is a request"),
    ([user([{"type": "text", "text": "look"}, PICTURE])], "parts"),
    ([user([{"type": "file", "file": {"file_id": "f1"}}])], "a file"),
    ([user([{"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}])], "a sound"),
    ([user(), said([{"type": "refusal", "refusal": "No."}])], "a refusal is text"),
    ([user(), *GROUP[:1], result(content="")], "a tool that printed nothing"),
    ([user("漢字 😀 \x07")], "any valid text, other control characters too"),
    ([user() | {"name": "ana"}, said() | {"refusal": None, "audio": None, "name": "bot"}], "names; nulls of the SDK"),
]


@pytest.mark.parametrize(("rule", "messages", "index", "param", "why"), REFUSED)
def test_refuses(rule, messages, index, param, why):
    found = [violation for violation in rules.violations(messages) if violation.rule == rule]
    assert [(violation.index, violation.param) for violation in found[:1]] == [(index, param)], why
    assert param in found[0].message, "the text must say where"
    assert f"(rule: {rule})" in found[0].message, "the text must name the rule"


@pytest.mark.parametrize(("messages", "why"), TAKEN)
def test_takes(messages, why):
    assert rules.violations(messages) == [], why


def test_every_rule_has_a_row_and_a_sentence():
    assert {row[0] for row in REFUSED} | {"parameters"} == set(rules.RULES)
    assert all(sentence.endswith(".") for sentence in rules.RULES.values())


def test_lax_providers_take_neighbours_of_one_role_and_nothing_else():
    for rule, messages, *_ in REFUSED:
        found = {violation.rule for violation in rules.violations(messages, strict_alternation=False)}
        assert (rule in found) == (rule != "alternation")


def test_all_violations_are_found_and_come_in_order_of_the_messages():
    found = rules.violations([said(), said(""), user("\0")])
    assert [(violation.index, violation.rule) for violation in found] == [
        (0, "user_first"),
        (1, "empty_assistant"),
        (1, "alternation"),
        (2, "text"),
    ]


def test_each_check_stands_what_the_others_refuse():
    odd = [None, 7, "x", [], {}, [None], [{}], {"function": 7}, [{"id": 7, "function": []}], True]
    for value in odd:
        for key in ("role", "content", "tool_calls", "tool_call_id", "name"):
            for role in ("user", "assistant", "tool", "system", "nobody"):
                found = rules.violations([user(), {"role": role, key: value}, {"role": role, "content": value}])
                assert all(violation.message.isascii() for violation in found)


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), VALUES, min_size=1), min_size=1, max_size=3))
def test_whatever_is_taken_can_be_counted(messages):
    """The rules are all that stands between a request and the tokenizer: nothing they let through may break it."""
    if not rules.violations([user(), *messages], strict_alternation=False):
        assert len(Tokenizer().prompt([user(), *messages]).ids) > 0


def test_one_pass_over_a_long_history():
    messages = [user()] + [message for _ in range(5_000) for message in (*GROUP, result("z"), said(), user())]
    found = rules.violations(messages)
    assert len(found) == 5_000
    assert json.dumps(found[-1].message)
