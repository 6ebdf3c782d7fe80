"""Chapter 9: what the summariser is asked, what counts as a summary, and that every failure is a SummaryError."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from reference.ch07_boundaries import SUMMARY_END, SUMMARY_PREFIX, is_summary
from tests.conftest import call

TURNS = [
    {"role": "user", "content": "Find the port."},
    {"role": "assistant", "content": "I look.", "tool_calls": [call("c", "app.cfg")]},
    {"role": "tool", "tool_call_id": "c", "content": "port = 8321\nhost = local"},
]


@pytest.fixture
def good(chapter):
    return "\n".join(f"{heading}\n- something" for heading in chapter.HEADINGS)


def ask(chapter, provider, **settings):
    with provider, provider.client() as client:
        return chapter.summarize_middle(settings.pop("turns", TURNS), client, "m", **settings)


@pytest.mark.exercise("9.2")
@pytest.mark.parametrize("previous", [None, "", "## Goal\nfind the port\n"])
def test_the_blocks_of_the_prompt_in_their_order(chapter, previous):
    text = chapter.build_summary_prompt(["[user]\n  Hi", "[assistant]\n  Hello"], previous, 500)
    kept = "<previous_summary>\n## Goal\nfind the port\n</previous_summary>\n\n" if previous else ""
    turns = "<turns>\n[user]\n  Hi\n[assistant]\n  Hello\n</turns>\n\n"
    task = chapter.UPDATE if previous else chapter.WRITE
    last = chapter.INSTRUCTION.format(task=task, template=chapter.SUMMARY_TEMPLATE, max_tokens=500)
    assert text == chapter.OPENING + "\n\n" + kept + turns + last


def prompt_of(provider, number=0):
    return provider.log[number].body["messages"][-1]["content"]


@pytest.mark.exercise("9.1")
@pytest.mark.parametrize(
    ("content", "window", "budget"),
    [
        (30_000, 200_000, 6_000),  # a fifth
        (1_000, 200_000, 2_000),  # at least 2,000
        (200_000, 200_000, 10_000),  # at most 5 % of the window
        (200_000, 1_000_000, 12_000),  # and at most 12,000
        (30_000, 8_192, 409),  # in a small window the ceiling is under the floor, and wins
    ],
)
def test_the_budget(chapter, content, window, budget):
    assert chapter.summary_budget(content, window) == budget


def test_the_prompt_quotes_the_turns_with_their_calls_and_ends_with_the_instruction(chapter, good, provider_with):
    provider = provider_with(good)
    assert ask(chapter, provider, max_tokens=500) == good
    text = prompt_of(provider)
    assert '-> read_file {"path": "app.cfg"}' in text
    assert "[tool read_file]\n  port = 8321\n  host = local" in text, (
        "quoted text is indented, so it cannot pose as a turn"
    )
    assert text.rstrip().endswith("Use at most 500 tokens.")
    assert text.index("</turns>") < text.index("## Goal")
    assert "<previous_summary>" not in text
    assert "tools" not in provider.log[0].body
    assert provider.log[0].body["max_completion_tokens"] == 500


def test_a_previous_summary_is_handed_in_to_be_updated(chapter, good, provider_with):
    provider = provider_with(good)
    ask(chapter, provider, previous_summary="## Goal\nfind the port")
    text = prompt_of(provider)
    assert text.index("<previous_summary>\n## Goal\nfind the port\n</previous_summary>") < text.index("<turns>")
    assert "Update the previous summary" in text


def test_turns_that_do_not_fit_the_summarisers_window_go_in_pieces(chapter, good, provider_with):
    turns = [{"role": "user", "content": f"part {i} " + "word " * 300} for i in range(30)]
    provider = provider_with(good, context_length=4_000)
    ask(chapter, provider, turns=turns, max_tokens=200, context_length=4_000)
    assert len(provider.log) > 2
    assert {exchange.status for exchange in provider.log} == {200}
    prompts = [exchange.body["messages"][-1]["content"] for exchange in provider.log]
    assert all(sum(f"part {i} " in prompt for prompt in prompts) == 1 for i in range(30)), "each turn goes once"
    assert all("<previous_summary>" in prompt for prompt in prompts[1:]), "each piece updates the one before"


def test_a_long_text_is_clipped_in_the_middle(chapter, good, provider_with):
    provider = provider_with(good)
    ask(chapter, provider, turns=[{"role": "user", "content": "A" + "x" * 50_000 + "Z"}])
    text = prompt_of(provider)
    assert len(text) < 10_000
    assert "  A" in text
    assert "xZ" in text
    assert "50,002 characters in all" in text


def test_a_reply_without_the_headings_is_refused_once_and_asked_for_again(chapter, good, provider_with):
    provider = provider_with("<tool_call>bash pytest</tool_call>", good)
    assert ask(chapter, provider) == good
    assert prompt_of(provider, 1) != prompt_of(provider, 0), "an identical request would get an identical reply"


FAILURES = [
    ("an error of the endpoint", {"fault": "server_error"}, "the summary call failed: InternalServerError"),
    ("too many requests", {"fault": "rate_limit"}, "the summary call failed: RateLimitError"),
    ("a lost connection", {"fault": "drop"}, "the summary call failed: APIConnectionError"),
    ("an empty reply", {"fault": "empty"}, "empty"),
    ("a reply that was cut off", {"fault": "length"}, "cut off"),
    ("no summary, twice", {"reply": "I will now run the tests."}, "lacks the headings"),
    ("an echo of the prompt", {"echo": True}, "repeats the request"),
    ("a reply that is too long", {"reply": "long summary " * 2_000}, "cut off"),
]


@pytest.mark.parametrize(("why", "fault", "reason"), FAILURES, ids=[row[0] for row in FAILURES])
def test_every_failure_is_a_summary_error(chapter, good, why, fault, reason):
    from course.provider import Fault, Model, Provider

    def answer(body):
        text = body["messages"][-1]["content"] if fault.get("echo") else fault.get("reply", good)
        return {"role": "assistant", "content": text}

    faults = [Fault(fault["fault"])] if "fault" in fault else []
    provider = Provider([Model("m", 100_000, answer)], faults)
    with pytest.raises(chapter.SummaryError, match=reason):
        ask(chapter, provider, max_tokens=1_000)


def test_without_turns_no_model_is_called(chapter, provider_with):
    provider = provider_with("never")
    with pytest.raises(chapter.SummaryError, match="nothing to summarise"):
        ask(chapter, provider, turns=[])
    assert provider.log == []


def test_a_summarisers_window_that_is_too_small_is_said_before_the_call(chapter, provider_with):
    with pytest.raises(chapter.SummaryError, match="too small"):
        ask(chapter, provider_with("never"), max_tokens=2_000, context_length=4_000)


@pytest.mark.exercise("9.3")
@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("the text", "the text"),
        ("  the text\n", "the text"),  # white space around it goes
        (f"{SUMMARY_PREFIX}\n\nthe text\n\n{SUMMARY_END}", "the text"),  # a summary in a summary: never nested
        ("nul \0", "nul \ufffd"),  # what no provider takes is cleaned
    ],
)
def test_the_summary_message_is_marked_and_never_nested(chapter, text, body):
    message = chapter.summary_message(text)
    content = f"{SUMMARY_PREFIX}\n\n{body}\n\n{SUMMARY_END}"
    assert message == {"role": "assistant", "content": content, "_generated": "summary"}
    assert is_summary(message)
    assert chapter.summary_text(message) == body


def checked(chapter, content, finish_reason="stop"):
    """What comes of a reply, with 500 tokens for a summary: ("a text", it), or ("a SummaryError", its words)."""
    choice = SimpleNamespace(message=SimpleNamespace(content=content), finish_reason=finish_reason)
    try:
        return "a text", chapter._checked(choice, 500)
    except chapter.SummaryError as error:
        return "a SummaryError", str(error)


@pytest.mark.exercise("9.4")
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("## Goal\nfind the port", "## Goal\nfind the port"),
        ("\n  ## Goal \n\n", "## Goal"),  # white space around it goes
        ("port\0", "port\ufffd"),  # what no provider takes is cleaned
        ("x" * 4_000, "x" * 4_000),  # twice four characters for each of 500 tokens, to the character
        ("The file begins with <turns>.", "The file begins with <turns>."),  # it only speaks of the mark
    ],
)
def test_a_reply_that_may_be_a_summary(chapter, content, text):
    assert checked(chapter, content) == ("a text", text)


@pytest.mark.exercise("9.4")
@pytest.mark.parametrize(
    ("content", "finish_reason", "reason"),
    [
        (None, "stop", "empty"),  # a refusal, or only thoughts: there is no text at all
        ("", "stop", "empty"),
        (" \n ", "stop", "empty"),  # white space says nothing
        ("## Goal\nfind the", "length", "cut off"),  # half a summary looks like a whole one
        (None, "length", "cut off"),  # all its tokens went into thoughts
        ("x" * 4_001, "stop", "too long"),  # the provider did not keep to max_tokens
        ("OPENING\n\n<turns>", "stop", "repeats the request"),
        ("Here you are: OPENING", "stop", "repeats the request"),  # an echo with a word before it
        ("<turns>\n[user]\n  Hi\n</turns>", "stop", "repeats the request"),
        ("Of course.\n<turns>\n[user]", "stop", "repeats the request"),
    ],
)
def test_a_reply_that_is_no_summary_is_an_error(chapter, content, finish_reason, reason):
    kind, text = checked(chapter, content and content.replace("OPENING", chapter.OPENING), finish_reason)
    assert kind == "a SummaryError", "raise SummaryError: a text that comes back takes the place of the turns"
    assert reason in text, "the error says what was wrong with the reply"


@pytest.mark.parametrize("size", [0, 10, 100, 1_000, 5_000])
def test_a_clipped_text_is_never_longer_than_the_cap_with_its_mark(chapter, size):
    assert len(chapter.clip("x" * 3_000, size)) == min(size, 3_000)
