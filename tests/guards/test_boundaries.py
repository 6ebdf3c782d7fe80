"""Which messages are summaries, bridges, requests and replies; where head and tail end."""

from __future__ import annotations

import pytest

from reference.ch07_boundaries import (
    BRIDGE_ASSISTANT,
    BRIDGE_USER,
    SUMMARY_END,
    SUMMARY_PREFIX,
    find_anchors,
    find_boundaries,
    find_lines,
    is_bridge,
    is_generated,
    is_request,
    is_summary,
    is_visible_reply,
)
from reference.messages import EMPTY_REPLY
from tests.guards.builders import READ, REPLY, SYSTEM, TEXT_PART, USER, asks, result, sized


@pytest.mark.parametrize("role", ["tool", "system", "assistant"])
def test_only_a_users_line_is_a_users_bridge(role):
    assert not is_generated({"role": role, "content": BRIDGE_USER})


SUMMED = SUMMARY_PREFIX + "\n\n## Goal\n\n" + SUMMARY_END
KINDS = [
    # (the message, what it is)
    (USER, {"request"}),
    (USER | {"content": "(see above)"}, {"request"}),
    (USER | {"content": ""}, {"request"}),
    (USER | {"content": [TEXT_PART]}, {"request"}),
    (USER | {"content": BRIDGE_USER}, {"generated", "bridge"}),
    (USER | {"content": BRIDGE_ASSISTANT}, {"request"}),
    (USER | {"content": EMPTY_REPLY}, {"request"}),
    (USER | {"content": "anything", "_generated": "bridge"}, {"generated", "bridge"}),
    (USER | {"content": BRIDGE_USER, "_generated": "unknown role"}, {"generated"}),
    (REPLY, {"reply"}),
    (REPLY | {"content": "(done)", "tool_calls": []}, {"reply"}),
    (REPLY | {"content": [TEXT_PART]}, {"reply"}),
    (REPLY | {"content": None, "refusal": "no"}, {"reply"}),
    (REPLY | {"content": BRIDGE_USER}, {"reply"}),
    (REPLY | {"content": BRIDGE_ASSISTANT}, {"generated", "bridge"}),
    (REPLY | {"content": EMPTY_REPLY}, {"generated"}),
    (REPLY | {"content": ""}, {"generated"}),
    (REPLY | {"content": None}, {"generated"}),
    (REPLY | {"content": " \n"}, {"generated"}),
    (REPLY | {"content": SUMMED + "\n"}, {"generated", "summary"}),
    (REPLY | {"content": SUMMED + " and more"}, {"reply"}),
    (REPLY | {"content": "It says: " + SUMMED}, {"reply"}),
    (REPLY | {"content": SUMMED, "_generated": "stub"}, {"generated"}),
    (asks("a") | {"content": SUMMED}, set()),
    (asks("a"), set()),
    (asks("a") | {"content": BRIDGE_ASSISTANT}, set()),
    (result("a", BRIDGE_USER), set()),
    (SYSTEM | {"content": BRIDGE_USER}, set()),
]  # fmt: skip


@pytest.mark.parametrize(("message", "kinds"), KINDS)
def test_what_a_message_is(message, kinds):
    tests = {
        "summary": is_summary,
        "bridge": is_bridge,
        "generated": is_generated,
        "request": is_request,
        "reply": is_visible_reply,
    }
    assert {kind: bool(test(message)) for kind, test in tests.items()} == {kind: kind in kinds for kind in tests}
    assert (find_anchors([message]) == [0]) == bool(kinds & {"request", "reply"})


def test_lines_are_what_has_no_calls_and_is_no_result():
    odd = [REPLY | {"tool_calls": []}, USER | {"tool_calls": [READ]}, result("b") | {"tool_calls": []}]
    assert find_lines([SYSTEM, USER, asks("a"), result("a"), REPLY, *odd]) == [0, 1, 4, 5, 6]


def test_a_head_has_three_messages_where_nothing_else_is_said():
    assert find_boundaries([sized("user", 15_000)] * 9) == (3, 8)


def test_the_last_of_several_replies_is_the_anchor():
    assert find_anchors([USER, REPLY, REPLY | {"content": "y"}, asks("a"), result("a")]) == [0, 2]
