"""Chapter 7: the two cuts, and the two messages that survive wherever they stand."""

from __future__ import annotations

import pytest

SUMMARY = "[CONTEXT COMPACTION: system-generated summary of earlier turns, not a new instruction]\n\nx\n\n"
END = "[END OF CONTEXT COMPACTION]"


def sized(*tokens):
    """Messages that are estimated at so many tokens each."""
    return [{"role": "user", "content": "x" * 4 * (count - 4)} for count in tokens]


@pytest.mark.exercise("7.1")
@pytest.mark.parametrize(
    ("tokens", "protect_first", "budget", "cuts"),
    [
        ([104] * 10, 3, 250, (3, 8)),  # two fit
        ([104] * 10, 3, 208, (3, 8)),  # to the token
        ([104] * 10, 3, 207, (3, 9)),
        ([104] * 10, 3, 10_000, (3, 3)),  # everything fits: there is no middle
        ([104] * 10, 0, 250, (0, 8)),
        ([104] * 10, 99, 250, (10, 10)),  # nothing but head
        ([104] * 10, -1, 250, (0, 8)),
        ([104, 104, 104, 104, 9_000], 1, 250, (1, 4)),  # a last message over the budget is kept all the same
        ([104] * 4, 1, 0, (1, 3)),
        ([9, 9, 9, 9, 9, 1_000, 9, 9], 1, 100, (1, 6)),  # a long message ends the tail, short ones hardly count
        ([], 3, 100, (0, 0)),
        ([104], 3, 100, (1, 1)),
    ],
)
def test_the_tail_is_a_budget_of_tokens(chapter, tokens, protect_first, budget, cuts):
    got = chapter.find_boundaries(sized(*tokens), protect_first, budget)
    assert got == cuts, f"messages[{cuts[1]}]: the tail begins here" if cuts[1] < len(tokens) else ""


@pytest.mark.exercise("7.2")
@pytest.mark.parametrize(
    ("messages", "anchors"),
    [
        ("u0 a1 u2 a3 c4 t5", [2, 3]),
        ("s0 u1 c2 t3 c4 t5", [1]),  # one long turn: no reply was seen yet
        ("s0 u1 a2 u3 c4 t5", [2, 3]),
        ("s0 u1 b2 c3 t4", [1]),  # a bridge is no request
        ("s0 B1 S2 u3 c4 t5 S6", [3]),  # neither is a summary a reply
        ("s0 a1", [1]),
        ("", []),
    ],
)
def test_the_anchors(chapter, messages, anchors):
    kinds = {
        "s": {"role": "system", "content": "s"},
        "u": {"role": "user", "content": "please"},
        "a": {"role": "assistant", "content": "done"},
        "c": {"role": "assistant", "content": "I look.", "tool_calls": [{"id": "c"}]},
        "t": {"role": "tool", "content": "r"},
        "b": {"role": "user", "content": chapter.BRIDGE_USER},
        "B": {"role": "user", "content": chapter.BRIDGE_USER, "_generated": "bridge"},
        "S": {"role": "assistant", "content": SUMMARY + END},
    }
    assert chapter.find_anchors([kinds[word[0]] for word in messages.split()]) == anchors


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "assistant", "content": SUMMARY + END}, True),  # the mark was lost on the wire
        ({"role": "assistant", "content": "anything", "_generated": "summary"}, True),
        ({"role": "user", "content": SUMMARY + END}, False),  # a user quotes it
        ({"role": "tool", "content": SUMMARY + END}, False),
        ({"role": "assistant", "content": "It printed: " + SUMMARY + END}, False),
        ({"role": "assistant", "content": SUMMARY + "and so on"}, False),  # no end mark
        ({"role": "assistant", "content": SUMMARY + END, "tool_calls": [{"id": "c"}]}, False),
        ({"role": "user", "content": "old", "_generated": "summary"}, True),  # an earlier form, but ours
        ({"role": "assistant", "content": None}, False),
    ],
)
def test_what_a_summary_is(chapter, message, expected):
    assert chapter.is_summary(message) is expected
    assert not (expected and chapter.is_request(message))


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ({"role": "user", "content": "[generated] Go on."}, True),  # the mark was lost on the wire
        ({"role": "assistant", "content": "[generated] No reply was recorded."}, True),
        ({"role": "assistant", "content": "x", "_generated": "bridge"}, True),
        ({"role": "assistant", "content": "[generated] Go on."}, False),  # the user's line, said by the assistant
        ({"role": "tool", "content": "[generated] Go on."}, False),
        # A model that picked the line up and works on: without this message its results would have no call.
        ({"role": "assistant", "content": "[generated] No reply was recorded.", "tool_calls": [{"id": "c"}]}, False),
    ],
)
def test_what_a_bridge_is(chapter, message, expected):
    assert chapter.is_bridge(message) is expected


def test_only_an_assistant_makes_calls(chapter):
    """What other programs put beside a user's words does not take them out of the lines that say something."""
    request = {"role": "user", "content": "please", "tool_calls": [{"id": "c"}]}
    calls = {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}
    empty = {"role": "assistant", "content": "done", "tool_calls": []}
    assert chapter.find_lines([request, calls, {"role": "tool", "content": "r"}, empty]) == [0, 3]
