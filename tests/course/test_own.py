"""`course agent --mine`: the learner's modules alone, and a refusal that lists what is not done."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.course.test_demo import NO_KEY, course

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.slow


@pytest.fixture
def solved(tmp_path):
    """A folder in which every exercise is done."""
    folder = tmp_path / "mine"
    folder.mkdir()
    for file in (ROOT / "reference").glob("ch*.py"):
        shutil.copy(file, folder)
    return folder


def agent(*arguments, chapters, folder):
    return course(
        "agent", "--plain", *arguments, folder=folder, environment=NO_KEY | {"COURSE_CHAPTERS": str(chapters)}
    )


def test_stubs_are_refused_with_the_list_of_exercises(tmp_path):
    run = agent("--mine", chapters=ROOT / "chapters", folder=tmp_path)
    assert run.returncode == 1
    assert "Your agent needs every exercise" in run.stderr
    assert "1.1    not started  chapters/ch01_agent_loop.py  to_wire" in run.stderr
    assert "12.3" in run.stderr
    assert not (tmp_path / "course-demo").exists(), "nothing was run"


def test_solved_modules_run_the_survey_and_name_their_files(tmp_path, solved):
    run = agent("--mine", chapters=solved, folder=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "mine/ch01_agent_loop.py" in run.stdout
    assert "40 right, 0 wrong, 0 missing, 0 doubled" in run.stdout


def test_it_is_the_learners_code_that_runs(tmp_path, solved):
    """A module that still passes its exercises, but says so in every summary's place."""
    file = solved / "ch10_compress.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace("class CompressingAgent(", "print('MY CHAPTER 10')\n\n\nclass CompressingAgent("))
    run = agent("--mine", chapters=solved, folder=tmp_path)
    assert "MY CHAPTER 10" in run.stdout


def test_one_wrong_function_is_named(tmp_path, solved):
    file = solved / "ch06_prune.py"
    text = file.read_text(encoding="utf-8")
    assert "max(0, len(results) - keep_recent)" in text
    file.write_text(text.replace("max(0, len(results) - keep_recent)", "-keep_recent"))
    run = agent("--mine", chapters=solved, folder=tmp_path)
    assert run.returncode == 1
    assert "1 are not done yet" in run.stderr
    assert "6.1    wrong" in run.stderr


def test_without_mine_it_is_the_course_s_agent(tmp_path):
    run = agent(chapters=ROOT / "chapters", folder=tmp_path)
    assert run.returncode == 0
    assert "40 right" in run.stdout
