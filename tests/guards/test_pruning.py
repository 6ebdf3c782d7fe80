"""Which results are cleared, and what stands in their place."""

from __future__ import annotations

import pytest

from reference.ch06_prune import PLACEHOLDER_START, prune_old_tool_results
from tests.guards.builders import BIG, USER, asks, called, result


def test_a_placeholder_never_makes_a_result_longer():
    messages = [USER, asks("a"), result("a", "x" * 50)]
    assert prune_old_tool_results(messages, keep_recent=0, min_chars=10)[2] is messages[2]


def pruned_text(text):
    """What pruning without a lower bound makes of the text of one result."""
    return prune_old_tool_results([asks("a", tool="f"), result("a", text)], keep_recent=0, min_chars=0)[1]["content"]


LINE = "[Old tool output cleared to save context space: f, 300 characters]"
QUOTE = PLACEHOLDER_START + " " * (199 - len(PLACEHOLDER_START))
CLEARED = [
    # (what the result is, its text, what pruning makes of it)
    ("as long as its placeholder", "x" * 65, "x" * 65),
    ("one character longer", "x" * 66, LINE.replace("300", "66")),
    ("long", "x" * 300, LINE),
    ("a placeholder", LINE, LINE),
    ("a placeholder's beginning, below 200 characters", QUOTE, QUOTE),
    ("a placeholder's beginning, 200 characters", QUOTE + "x", LINE.replace("300", "200")),
    ("a placeholder's beginning at its end", "x" * 90 + PLACEHOLDER_START, LINE.replace("300", "136")),
]


@pytest.mark.parametrize(("what", "text", "expected"), CLEARED, ids=[row[0] for row in CLEARED])
def test_what_is_cleared_without_a_lower_bound(what, text, expected):
    assert pruned_text(text) == expected
    assert pruned_text(expected) == expected


@pytest.mark.parametrize(
    ("tool", "call_id", "named"),
    [("t" * 61, "a", "t" * 60), (5, "a", "5"), (None, 5, "f"), ("", "a", "tool"), ("grep", None, "grep")],
)
def test_the_placeholder_names_the_tool_however_odd_its_call(tool, call_id, named):
    made = {"id": call_id, "function": {"name": "f" if tool is None else tool}}
    pruned = prune_old_tool_results([called(made), result(call_id, BIG)], keep_recent=0)
    assert pruned[1]["content"] == f"{PLACEHOLDER_START}: {named}, 2,000 characters]"


def test_three_results_and_those_of_two_hundred_characters_are_not_cleared():
    sizes = [200, 201, 201, 201, 201]
    messages = [m for i, size in enumerate(sizes) for m in (asks(str(i)), result(str(i), "x" * size))]
    assert [i for i, new in enumerate(prune_old_tool_results(messages)) if new is not messages[i]] == [3]
