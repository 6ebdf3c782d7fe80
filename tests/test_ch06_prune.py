"""Chapter 6: what pruning clears, what it leaves, and what its placeholder says."""

from __future__ import annotations

import copy

import pytest

from reference.ch01_agent_loop import to_wire
from reference.ch08_alignment import validate_messages
from tests.conftest import call

SHORT, LONG = "ok", "x" * 1_000
PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}


def cleared(messages):
    """The numbers of the tool results that are placeholders."""
    contents = [message["content"] for message in messages if message["role"] == "tool"]
    return [i for i, content in enumerate(contents) if str(content).startswith("[Old tool output cleared")]


@pytest.mark.exercise("6.1")
@pytest.mark.parametrize(
    ("sizes", "keep_recent", "expected"),
    [
        ([LONG] * 5, 3, [0, 1]),  # the newest three stay
        ([LONG] * 2, 3, []),  # fewer than keep_recent: nothing is old
        ([LONG] * 3, 0, [0, 1, 2]),  # zero keeps none; results[:-0] would keep all
        ([LONG] * 3, 99, []),
        ([SHORT, LONG, LONG, LONG], 1, [1, 2]),  # a short result is shorter than any placeholder
        (["y" * 200, LONG, LONG], 1, [1]),  # 200 characters are not over 200
        ([[{"type": "text", "text": LONG}], LONG], 1, [0]),  # text in parts is text
        ([[PICTURE], LONG], 1, [0]),  # a picture costs a thousand tokens, though it has no characters
        ([None, "", LONG], 1, []),  # nothing to clear
        ([], 3, []),  # no tool was ever called
    ],
)
def test_clears_all_but_the_newest(chapter, conversation, sizes, keep_recent, expected):
    messages = conversation(results=sizes)
    pruned = chapter.prune_old_tool_results(messages, keep_recent=keep_recent)
    assert cleared(pruned) == expected, spot(pruned, expected)
    assert len(pruned) == len(messages), "no message is removed: a call without its result is refused"


def spot(pruned, expected):
    """Where the first result stands that should be a placeholder and is not, or the other way round."""
    places = [index for index, message in enumerate(pruned) if message["role"] == "tool"]
    wrong = [place for number, place in enumerate(places) if (number in cleared(pruned)) != (number in expected)]
    number = places.index(wrong[0]) if wrong else 0
    return f"messages[{wrong[0]}]: {'still here' if number in expected else 'must stay'}" if wrong else ""


@pytest.mark.exercise("6.1")
def test_the_placeholder_says_what_was_there(chapter, conversation):
    pruned = chapter.prune_old_tool_results(conversation(results=["x" * 4_000]), keep_recent=0)
    assert pruned[3]["content"] == "[Old tool output cleared to save context space: read_file, 4,000 characters]"
    pruned = chapter.prune_old_tool_results(conversation(results=[[PICTURE, PICTURE]]), keep_recent=0)
    assert pruned[3]["content"].endswith("read_file, 0 characters, 2 pictures]")


@pytest.mark.exercise("6.1")
def test_a_placeholder_that_would_be_longer_is_not_used(chapter, conversation):
    messages = conversation(results=["x" * 60, LONG])
    pruned = chapter.prune_old_tool_results(messages, keep_recent=0, min_chars=10)
    assert cleared(pruned) == [1], "messages[3]: 60 characters are shorter than any placeholder"


@pytest.mark.exercise("6.1")
def test_the_name_is_that_of_the_nearest_call_before_since_ids_repeat(chapter):
    messages = []
    for tool in ("grep", "read_file"):
        messages.append({"role": "assistant", "content": None, "tool_calls": [call("call_0", tool=tool)]})
        messages.append({"role": "tool", "tool_call_id": "call_0", "content": LONG})
    pruned = chapter.prune_old_tool_results(messages, keep_recent=0)
    assert ": grep," in pruned[1]["content"], "messages[1]: the call before it is of grep"
    assert ": read_file," in pruned[3]["content"], "messages[3]: the call before it is of read_file"


@pytest.mark.exercise("6.1")
def test_leaves_the_input_alone_and_every_call_answered(chapter, conversation):
    messages = conversation(results=[LONG] * 6, parallel=3)
    before = copy.deepcopy(messages)
    pruned = chapter.prune_old_tool_results(messages)
    assert messages == before, "the caller's list was changed: build new messages instead of writing into old ones"
    assert validate_messages(to_wire(pruned)) == []
    assert chapter.prune_old_tool_results(pruned) == pruned, "pruning twice must give the same as pruning once"
    assert all(new is old for new, old in zip(pruned[-3:], messages[-3:], strict=True)), "kept messages are not copied"


@pytest.mark.exercise("6.1")
def test_a_long_result_that_quotes_a_placeholder_is_cleared_like_any_other(chapter, conversation):
    quote = "[Old tool output cleared to save context space: f, 9 characters]" + LONG
    pruned = chapter.prune_old_tool_results(conversation(results=[quote]), keep_recent=0)
    size = f"{len(quote):,} characters"
    assert pruned[3]["content"] == f"[Old tool output cleared to save context space: read_file, {size}]"


@pytest.mark.exercise("6.1")
@pytest.mark.parametrize(
    ("never_prune", "expected"),
    [
        (["ask_user"], [1, 2]),  # what the user answered cannot be read again
        ([], [0, 1, 2]),  # no tool is spared
        (["ask_user", "read_file"], [2]),  # two are
        (["no_such_tool"], [0, 1, 2]),
    ],
)
def test_results_of_tools_in_never_prune_stay(chapter, never_prune, expected):
    messages = []
    for number, tool in enumerate(["ask_user", "read_file", "grep"]):
        messages.append({"role": "assistant", "content": None, "tool_calls": [call(f"c{number}", tool=tool)]})
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": LONG})
    pruned = chapter.prune_old_tool_results(messages, keep_recent=0, never_prune=never_prune)
    assert cleared(pruned) == expected, spot(pruned, expected)


@pytest.mark.exercise("6.1")
def test_other_keys_of_a_cleared_result_stay(chapter, conversation):
    messages = conversation(results=[LONG])
    messages[3]["_took"] = 3
    assert chapter.prune_old_tool_results(messages, keep_recent=0)[3]["_took"] == 3


@pytest.mark.parametrize("odd", [{"function": "read_file"}, {"function": None}, "read_file", None, {}])
def test_a_call_without_a_proper_function_leaves_the_tool_unnamed(chapter, odd):
    """Pruning comes after the repair; who prunes a list as it arrived gets a line all the same."""
    one = odd | {"id": "a"} if isinstance(odd, dict) else odd
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [one]},
        {"role": "tool", "tool_call_id": "a", "content": LONG},
    ]
    assert ": tool," in chapter.prune_old_tool_results(messages, keep_recent=0)[1]["content"]
    assert chapter.prune_old_tool_results([messages[0] | {"tool_calls": "none"}]) == [
        messages[0] | {"tool_calls": "none"}
    ]
