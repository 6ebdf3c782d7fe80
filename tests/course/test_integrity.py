"""A release gate over the exercises themselves: stubs current, hints and answers complete, and all of them judged."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

import pytest

from course.checker.answers import definitions, read_answers
from course.checker.check import check_exercises
from course.checker.hints import LEVELS, read_hints
from course.checker.misconceptions import fingerprint, read_fingerprints
from course.checker.project import Project, find_project
from course.checker.record import check_answers
from course.checker.verdict import DONE, NOT_STARTED, WRONG
from course.stubs import RECORD, StubError, digest, find_holes, make_stubs, read_text, recorded

PROJECT = find_project()
CHAPTERS = PROJECT.chapter_list()
EXERCISES = [hole.number for chapter in CHAPTERS for hole in chapter.holes]

# Exercises that are marked, but whose tests, hints or answers are still to be written. This list only gets shorter.
UNFINISHED: set[str] = set()  # exercises that still lack a part

FINISHED = [number for number in EXERCISES if number not in UNFINISHED]


def answers(kind):
    """(chapter, answer) of every named wrong answer, or of every right one in another style."""
    return [(chapter, answer) for chapter in CHAPTERS for answer in read_answers(PROJECT, chapter, kind)]


def case_id(pair):
    return f"{pair[1].exercise}-{pair[1].name}"


WRONG_ANSWERS, RIGHT_ANSWERS = answers("wrong"), answers("right")


@cache
def outcomes(kind):
    """{(exercise, name): its verdict} of all answers; run once, two at a time."""
    pairs = WRONG_ANSWERS if kind == "wrong" else RIGHT_ANSWERS
    checked = check_answers(PROJECT, pairs)
    return {(a.exercise, a.name): outcome.verdicts[0] for (_, a), outcome in zip(pairs, checked, strict=True)}


def filled(folder, texts):
    """The project with a folder of its own to write in, holding these files."""
    chapters = folder / "chapters"
    chapters.mkdir()
    for name, text in texts.items():
        (chapters / name).write_bytes(text.encode())
    return Project(PROJECT.root, chapters)


def statuses(project):
    return {verdict.number: verdict.status for verdict in check_exercises(project, CHAPTERS, FINISHED).verdicts}


def test_the_list_of_unfinished_exercises_gets_shorter():
    assert set(EXERCISES) >= UNFINISHED, "an exercise that is not there any more still stands in UNFINISHED"
    complete = [number for number in UNFINISHED if not missing_parts(number)]
    assert complete == [], "complete: take it out of UNFINISHED"


def missing_parts(number):
    """What an exercise lacks, in words."""
    chapter, hole = PROJECT.find_exercise(number)
    counts = {kind: sum(a.exercise == number for _, a in answers(kind)) for kind in ("wrong", "right")}
    wanted = {
        "three hints": len(read_hints(PROJECT, chapter).get(number, [])) == LEVELS,
        "2 to 5 wrong answers": 2 <= counts["wrong"] <= 5,
        "a right answer in another style": counts["right"] >= 1,
        "a marked test": f'exercise("{number}")' in read_text(PROJECT.tests(chapter)),
        "an example in its docstring": "Example" in docstring(chapter, hole),
    }
    return [part for part, there in wanted.items() if not there]


def docstring(chapter, hole):
    tree = ast.parse(read_text(PROJECT.reference(chapter)))
    return ast.get_docstring(definitions(tree)[hole.owner]) or ""


@pytest.mark.parametrize("number", FINISHED)
def test_an_exercise_has_all_its_parts(number):
    assert missing_parts(number) == []


def test_the_stubs_of_record_are_current():
    """The record stands for the files that are given out; a learner's own edits are no fault of the course."""
    wanted = {name: digest(text) for name, text in make_stubs(PROJECT.root / "reference").items()}
    assert recorded(PROJECT.chapters) == wanted, "run `course stubs`"
    files = {path.name for path in PROJECT.chapters.glob("ch*.py")}
    assert files == set(wanted)


def test_a_stub_is_generated_byte_for_byte():
    reference = PROJECT.root / "reference"
    for name, stub in make_stubs(reference).items():
        source, left = read_text(reference / name), stub
        for hole in find_holes(source, name):
            lines = source.split("\n")[hole.first : hole.last + 1]
            raising = next(line for line in left.split("\n") if f'NotImplementedError("exercise {hole.number}:' in line)
            left = left.replace(raising, "\n".join(lines))
        assert left == source, f"{name}: more than the holes has changed"


def test_every_stub_is_reported_as_not_started(tmp_path):
    project = filled(tmp_path, make_stubs(PROJECT.root / "reference"))
    assert statuses(project) == dict.fromkeys(FINISHED, NOT_STARTED)


def test_every_solution_passes(tmp_path):
    project = filled(tmp_path, {f"{c.stem}.py": read_text(PROJECT.reference(c)) for c in CHAPTERS})
    assert statuses(project) == dict.fromkeys(FINISHED, DONE)


@pytest.mark.parametrize("pair", WRONG_ANSWERS, ids=case_id)
def test_a_wrong_answer_fails_its_test_and_gets_its_own_sentence(pair):
    _, answer = pair
    verdict = outcomes("wrong")[answer.exercise, answer.name]
    assert verdict.status == WRONG
    failed = {failure.test.partition("[")[0] for failure in verdict.failures}
    assert answer.fails in failed, f"FAILS names {answer.fails}; failed: {sorted(failed)}"
    assert verdict.misconception == answer.sentence


def test_no_two_wrong_answers_share_a_sentence():
    sentences = [answer.sentence for _, answer in WRONG_ANSWERS]
    assert len(set(sentences)) == len(sentences)
    assert all(sentence.endswith(".") and len(sentence) < 240 for sentence in sentences)


@pytest.mark.parametrize("chapter", CHAPTERS, ids=lambda chapter: chapter.stem)
def test_the_recorded_fingerprints_are_current(chapter):
    measured = {
        answer.name: fingerprint(outcomes("wrong")[answer.exercise, answer.name].failures)
        for _, answer in [pair for pair in WRONG_ANSWERS if pair[0] == chapter]
    }
    assert read_fingerprints(PROJECT, chapter) == measured, "run `python -m course.checker.record`"


@pytest.mark.parametrize("pair", RIGHT_ANSWERS, ids=case_id)
def test_a_right_answer_in_another_style_passes(pair):
    _, answer = pair
    verdict = outcomes("right")[answer.exercise, answer.name]
    assert verdict.status == DONE, verdict.failure


def test_the_reference_has_no_mark_that_the_generator_does_not_know():
    for path in sorted((PROJECT.root / "reference").glob("*.py")):
        text = read_text(path)
        if path.name.startswith("ch"):
            find_holes(text, path.name)
        else:
            with pytest.raises(StubError):
                find_holes(text + "\n# BEGIN EXERCISE 1.1 x\n# END EXERCISE 1.1\n", path.name)
            assert "EXERCISE" not in text, path.name


def test_the_record_stands_beside_the_stubs():
    assert Path(PROJECT.chapters, RECORD).exists()
