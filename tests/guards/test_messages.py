"""One message of any form: what it says, and what is sent of it."""

from __future__ import annotations

import json

import pytest

from course.provider import rules
from reference.ch08_alignment import validate_messages
from reference.messages import (
    EMPTY_REPLY,
    clean_arguments,
    clean_message,
    clip,
    has_text,
    picture_count,
    text_length,
    text_of,
)
from tests.guards.builders import PICTURE, READ, REPLY, SOUND, UNKNOWN, USER, asks, called, part, result, said

SAME = "the same object"
CONTENTS = [
    # (the content, its text, its pictures, the content that is sent)
    ("x", "x", 0, SAME),
    ("", "", 0, SAME),
    ("nul \x00", "nul \x00", 0, "nul \ufffd"),
    (None, "", 0, ""),
    ([], "", 0, ""),
    (5, "5", 0, "5"),
    ({"ä": {1}}, '{"ä": "{1}"}', 0, '{"ä": "{1}"}'),
    ([said("a"), part("refusal", "no")], "a\nno", 0, SAME),
    ([PICTURE, said("a"), SOUND, part("file", {"file_id": "f"})], "a", 3, SAME),
    ([said("a"), said("\x00")], "a\n\x00", 0, [said("a"), said("\ufffd")]),
(["nul \x00"], "nul \x00", 0, [said("nul \ufffd")]),
    ({"k": "\ud83d"}, '{"k": "\ud83d"}', 0, '{"k": "\ufffd"}'),
    (["bare", None], "bare\nnull", 0, [said("bare"), said("null")]),
    ([said(5)], '{"type": "text", "text": 5}', 0, [said('{"type": "text", "text": 5}')]),
    ([{"type": "refusal"}], '{"type": "refusal"}', 0, [said('{"type": "refusal"}')]),
    ([part("refusal", "no", text="yes")], "no", 0, SAME),
    ([{"type": "thinking", "text": "hm"}], "hm", 0, [said("hm")]),
    ([{"type": "thinking", "text": 5}], '{"type": "thinking", "text": 5}', 0, [said('{"type": "thinking", "text": 5}')]),
    *[
        ([odd], json.dumps(odd), 0, [said(json.dumps(odd))])
        for odd in (
            {"type": "image_url"}, part("image_url", ""), part("image_url", {"url": ""}), {"type": "image"}, part("image_url", {"url": 5}),
            part("file", {}), part("file", None), part("input_audio", {"data": "d"}), part("input_audio", {"format": "wav"}),
        )
    ],
    ([{"type": ["x"]}], '{"type": ["x"]}', 0, [said('{"type": ["x"]}')]),
    # A picture in another API's form is a picture, and not a long text.
    ([said("a"), part("image_url", "data:,x")], "a", 1, [said("a"), PICTURE]),
    ([part("input_image", None, image_url="data:,x")], "", 1, [PICTURE]),
    ([{"type": "input_image", "image_url": {"url": "data:,x"}}], "", 1, [PICTURE]),
    ([{"type": "image", "source": {"url": "data:,x"}}], "", 1, [PICTURE]),
    ([{"type": "image", "source": {"media_type": "image/png", "data": "AA"}}], "", 1, [part("image_url", {"url": "data:image/png;base64,AA"})]),
    ([said("a") | {"n": 5, "k": [None, {"b": 1}]}], "a", 0, SAME),
    ([said("a") | {"k": ["b", "\x00"]}], "a", 0, [said("a") | {"k": ["b", "\ufffd"]}]),
    ([said("a") | {"k\x00": {"b": "c"}}], "a", 0, [said("a") | {"k\ufffd": {"b": "c"}}]),
    ([PICTURE | {"image_url": {"url": "u\ud83d"}}], "", 1, [PICTURE | {"image_url": {"url": "u\ufffd"}}]),
]  # fmt: skip


@pytest.mark.parametrize(("content", "text", "pictures", "sent"), CONTENTS)
def test_what_content_says_and_what_is_sent_of_it(content, text, pictures, sent):
    assert (text_of(content), picture_count(content)) == (text, pictures)
    assert text_length(content) == len(text.replace("\n", "") if isinstance(content, list) else text)
    assert has_text({"content": content}) is bool(text.strip())
    message = USER | {"content": content}
    if sent is SAME:
        assert clean_message(message) is message
    else:
        assert clean_message(message) == USER | {"content": sent}
    assert rules.violations([clean_message(message)]) == []
    assert (validate_messages([message]) == []) == (sent is SAME)


ARGUMENTS = [
    # (what the model wrote, the arguments that are kept)
    ('{"a": 1}', SAME),
    ('{"q": "\ud83d"}', '{"q": "\ufffd"}'),
    ({"q": "ä\ud83d"}, '{"q": "ä\ufffd"}'),
    ({}, "{}"),
    ("", "{}"),
    (None, "{}"),
    ("[1]", '{"unparsed": "[1]"}'),
    ('{"a": NaN}', '{"unparsed": "{\\"a\\": NaN}"}'),  # Python reads it, and no JSON has it
    ({"a": float("inf")}, '{"unparsed": "{\\"a\\": Infinity}"}'),
    ([1], '{"unparsed": "[1]"}'),
    (5, '{"unparsed": "5"}'),
    ("[" * 99_999, '{"unparsed": "' + "[" * 99_999 + '"}'),
    ('{"\ud83d', '{"unparsed": "{\\"\ufffd"}'),
]


@pytest.mark.parametrize(("raw", "kept"), ARGUMENTS, ids=range(len(ARGUMENTS)))
def test_arguments_of_any_form_become_the_text_of_an_object(raw, kept):
    assert clean_arguments(raw) == (raw if kept is SAME else kept)
    cleaned = clean_message(called({"id": "a", "type": "function", "function": {"name": "f", "arguments": raw}}))
    assert cleaned["tool_calls"][0]["function"]["arguments"] == clean_arguments(raw)


@pytest.mark.parametrize(
    ("size", "length"), [(0, 0), (40, 40), (55, 55), (56, 56), (100, 100), (999, 999), (1_000, 1_000)]
)
def test_a_clipped_text_keeps_both_ends(size, length):
    text = "<" + "x" * 998 + ">"
    clipped = clip(text, size)
    assert len(clipped) == length
    mark = "\n[... 1,000 characters in all, the middle left out ...]\n"
    if size == 1_000:
        assert clipped is text
    elif size <= len(mark):
        assert clipped == mark[:size]
    else:
        head, end = clipped.split(mark)
        assert len(head) - 2 * len(end) in (0, 1, 2)
        assert text.startswith(head)
        assert text.endswith(end)


MESSAGES = [
    # (a message, what is sent of it)
    (REPLY, SAME),
    (REPLY | {"refusal": None, "mood": 5}, SAME),
    (REPLY | {"content": None, "refusal": "no"}, REPLY | {"content": "no", "refusal": "no"}),  # not every server reads it
    (REPLY | {"content": [part("refusal", " no ")]}, REPLY | {"content": "no"}),
    (REPLY | {"content": " x\n"}, SAME),
    (REPLY | {"content": " \n"}, REPLY | {"content": EMPTY_REPLY, "_generated": "empty reply"}),
    (REPLY | {"content": [said(" ")]}, REPLY | {"content": EMPTY_REPLY, "_generated": "empty reply"}),
    (REPLY | {"content": [said("x"), part("refusal", "no")]}, SAME),
    (REPLY | {"content": [PICTURE], "refusal": "no"}, REPLY | {"content": [PICTURE, said("no")], "refusal": "no"}),
    (REPLY | {"reasoning_content": "half \ud83d"}, REPLY | {"reasoning_content": "half \ufffd"}),
    (REPLY | {"content": "", "refusal": " "}, REPLY | {"content": EMPTY_REPLY, "refusal": " ", "_generated": "empty reply"}),
    (REPLY | {"content": None, "refusal": 5}, REPLY | {"content": "5", "refusal": "5"}),
    (called(READ | {"note": "half \ud83d"}), called(READ | {"note": "half \ufffd"})),
    (called(READ | {"function": READ["function"] | {"note": "\ud83d"}}), called(READ | {"function": READ["function"] | {"note": "\ufffd"}})),
    (REPLY | {"name": "n\x00", "tool_calls": []}, REPLY | {"name": "n\ufffd", "tool_calls": []}),
    ({"role": "assistant"}, {"role": "assistant", "content": EMPTY_REPLY, "_generated": "empty reply"}),
    (REPLY | {"content": [PICTURE]}, REPLY | {"content": [PICTURE, said(EMPTY_REPLY)], "_generated": "empty reply"}),
    ({"role": "user"}, {"role": "user", "content": ""}),
    (USER | {"tool_calls": [{"id": "a"}]}, SAME),
    (result("a", None), result("a", "")),
    (result(5), result("5")),
    (result("a\x00"), result("a\ufffd")),
    (asks("a"), SAME),
    (asks("a") | {"content": ""}, SAME),
    (asks("a") | {"content": []}, asks("a")),
    ({"role": "assistant", "tool_calls": [READ]}, asks("a")),
    (called(READ | {"type": None}), asks("a")),
    (called(READ | {"id": "a\x00"}), asks("a\ufffd")),
    (called({"id": "a", "n": 1}), called({"id": "a", "n": 1, "type": "function", "function": UNKNOWN})),
    (called({"id": "a", "function": "f"}), called({"id": "a", "type": "function", "function": UNKNOWN})),
    (called(READ, READ | {"function": {"name": "f\x00", "arguments": "", "n": 1}}), called(READ, READ | {"function": {"name": "f\ufffd", "arguments": "{}", "n": 1}})),
]  # fmt: skip


@pytest.mark.parametrize(("message", "sent"), MESSAGES, ids=range(len(MESSAGES)))
def test_what_is_sent_of_a_message(message, sent):
    cleaned = clean_message(message)
    if sent is SAME:
        assert cleaned is message
    else:
        assert cleaned == sent
        assert clean_message(cleaned) is cleaned
