"""What the notebooks of part II try out: a learner's chapter in the survey, requests in a row, tables, charts."""

from __future__ import annotations

import pytest

from course.charts import bars, curves, grid
from course.checker.notebook import mine
from course.checker.project import find_project
from course.experiments import own_names, survey_by_mine, unsolved
from course.lab import numbers, record, survey, survey_agent, workplace
from course.samples import conversation
from course.strict import exchanges


@pytest.fixture
def mine_at(monkeypatch, tmp_path):
    """Puts chapters into a folder of the learner's: `write(stem, text)` with `text` None for the solved one."""
    root, folder = find_project().root, tmp_path / "chapters"
    folder.mkdir()
    monkeypatch.setenv("COURSE_CHAPTERS", str(folder))

    def write(stem, change=lambda text: text, solved=True):
        project = find_project()
        chapter = project.find_chapter(stem)
        text = (
            (root / "reference" / f"{chapter.stem}.py").read_text(encoding="utf-8") if solved else project.stub(chapter)
        )
        (folder / f"{chapter.stem}.py").write_text(change(text), encoding="utf-8")

    return write


def test_a_stub_is_named_as_not_started_and_runs_no_survey(mine_at, capsys):
    mine_at("ch06", solved=False)
    sentence = unsolved("ch06")
    assert "ch06_prune.py: exercise 6.1 is not started." in sentence
    assert survey_by_mine("ch06") is None
    assert capsys.readouterr().out.strip() == sentence


def test_a_wrong_chapter_is_not_done_yet(mine_at):
    mine_at("ch06", lambda text: text.replace("max(0, len(results) - keep_recent)", "-keep_recent"))
    assert "exercise 6.1 is not done yet" in unsolved("ch06")


def test_a_solved_chapter_runs_in_the_survey_as_the_reference_does(mine_at):
    mine_at("ch06")
    assert unsolved("ch06") == ""
    assert numbers(survey_by_mine("ch06", files=8)) == numbers(survey(files=8))


def test_the_learners_own_file_is_what_runs(mine_at):
    mine_at("ch06", lambda text: text + "\n\ndef placeholder_for(tool, content):\n    return '[MINE] gone'\n")
    timeline = survey(using=own_names(mine("ch06")), files=12)
    assert any("[MINE] gone" in str(message.get("content")) for message in timeline.messages.values())


def test_the_summary_of_the_learner_is_what_is_asked_for(mine_at):
    mine_at("ch09", lambda text: text.replace('OPENING = "Below', 'OPENING = "MINE. Below'))
    module = mine("ch09")
    assert {"summarize_middle", "OPENING", "SummaryError"} <= own_names(module).keys()
    assert "clip" not in own_names(module), "what a chapter imports is not its own"
    with workplace(12) as place:
        agent = survey_agent(place, using=own_names(module))
        record(agent, place.opening, place.provider)
        asked = [
            exchange.body["messages"][0]["content"] for exchange in place.provider.log if "summar" in exchange.model
        ]
    assert asked
    assert all(text.startswith("MINE. Below") for text in asked)


def test_requests_in_a_row_meet_one_cache():
    messages = conversation([f"line {n} of a file\n" * 100 for n in range(6)])
    first, second, refused = exchanges(messages[:8], messages, messages[3:])
    assert (first.status, first.cached_tokens) == (200, 0)
    assert 1_024 <= second.cached_tokens <= first.prompt_tokens
    assert (refused.status, refused.error["code"]) == (400, "user_first")


def test_a_request_over_the_window_is_in_the_log():
    (log,) = exchanges(conversation(["word " * 500]), window=200)
    assert log.error["code"] == "context_length_exceeded"


def test_a_grid_puts_numbers_right_and_words_left():
    assert grid(["kind", "tokens", "ok"], [["short", 7, True], ["a long one", 1_200, False]]).split("\n") == [
        "kind        tokens  ok",
        "----------  ------  ---",
        "short            7  yes",
        "a long one   1,200  no",
    ]


@pytest.mark.parametrize(
    "picture",
    [
        lambda: bars({"a": 1.5, "b": 20_000}, "Bars", "tokens", line=3),
        lambda: curves({"a": [1, 2, 3], "b": [3.5, 2.5]}, "Curves", "request", "tokens", line=2),
        lambda: curves({"a": [1, 2]}, "Curves at", "size", "tokens", at=[10_000, 20_000]),
    ],
)
def test_charts_have_the_width_of_the_other_pictures_and_the_same_bytes_each_time(picture):
    assert repr(picture()).startswith("<picture, 1280 x ")
    assert picture().png() == picture().png()
