"""What the checker says of files that learners write, by running it on such files."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

import course
from course.checker.answers import put_into
from course.checker.check import check_exercises, check_project
from course.checker.doctor import examine, is_well, report_text
from course.checker.hints import hint_text
from course.checker.modules import load_module
from course.checker.page import OutcomePage, notebook_words
from course.checker.project import CheckError, Project, find_project
from course.checker.recording import keeper
from course.checker.text import RED_IS_RIGHT, outcome_text, status_text, to_ascii
from course.checker.verdict import DONE, NOT_STARTED, WRONG
from course.checker.views import diff_text, reset, show_text
from course.learning import make_app
from course.stubs import read_text

PROJECT = find_project()
ONE, SIX = PROJECT.find_chapter(1), PROJECT.find_chapter(6)
LIMIT = 2.0  # seconds for one test: short, since some of these never end

HEADS = {"1.1": "def to_wire(messages):\n", "6.1": "def prune_old_tool_results(messages, keep_recent=3):\n"}


@pytest.fixture
def mine(tmp_path):
    """A project whose chapters are stubs in a folder of their own."""
    project = Project(PROJECT.root, tmp_path / "chapters")
    project.chapters.mkdir()
    for chapter in project.chapter_list():
        project.mine(chapter).write_text(project.stub(chapter), encoding="utf-8")
    return project


def write(project, chapter, text):
    project.mine(chapter).write_text(text, encoding="utf-8")


def solve(project, chapter, answer=""):
    """Fill in the solutions of a chapter, with one function as in `answer`."""
    write(project, chapter, put_into(read_text(project.reference(chapter)), answer))


def explained(project, what):
    """(statuses by exercise, what is printed)."""
    outcome = check_project(project, what, LIMIT)
    return {verdict.number: verdict.status for verdict in outcome.verdicts}, outcome_text(outcome)


BODIES = [
    ("endless loop", "    while True:\n        pass\n", "It never ends"),
    ("a list that grows while it is read", "    messages = list(messages)\n    for message in messages:\n        messages.append(message)\n", "It never ends"),
    ("an endless loop that catches everything", "    while True:\n        try:\n            while True: pass\n        except BaseException: pass\n", "It never ends"),
    ("exit", "    import sys\n    sys.exit(0)\n", "It ends Python (`sys.exit`, `exit` or `quit`)"),
    ("a hard exit", "    import os\n    os._exit(0)\n", "It ended Python itself"),
    ("recursion", "    return to_wire(messages)\n", "It calls itself without end"),
    ("no return", "    messages = list(messages)\n", "It returned nothing (None): is a `return` missing?"),
    ("a generator", "    yield from messages\n", "return a list, without `yield`"),
    ("an error", "    return [m['text'] for m in messages]\n", "KeyError: 'text'"),
    ("a misspelled helper", "    return [only(m) for m in messages]\n", "There is no only in the file: is it misspelled"),
    ("the input is changed", "    for m in messages:\n        m.pop('reasoning', None)\n    return messages\n", "messages[0] had 3 entries and now has 2. Inputs are never changed"),
    ("the list is emptied", "    kept = list(messages)\n    messages.clear()\n    return kept\n", "messages had 1 entries and now has 0"),
    ("an assertion of one's own", "    assert len(messages) > 1, 'too short'\n    return messages\n", "AssertionError: too short"),
]  # fmt: skip


@pytest.mark.parametrize(("what", "body", "sentence"), BODIES, ids=[row[0] for row in BODIES])
def test_each_way_to_be_wrong_has_its_sentence_and_costs_no_other_exercise(mine, what, body, sentence):
    solve(mine, ONE, HEADS["1.1"] + body)
    statuses, text = explained(mine, "1")
    assert statuses == {"1.1": WRONG, "1.2": DONE, "1.3": DONE}
    assert sentence in text
    assert "Traceback" not in text
    assert "test_ch01" not in text
    assert re.search(r"chapters/ch01_agent_loop\.py:\d+", text)
    assert "`course hint 1.1`" in text


def line_that(project, chapter, words):
    """The number of the line that holds these words."""
    lines = read_text(project.mine(chapter)).splitlines()
    return next(number for number, line in enumerate(lines, 1) if words in line)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    while True:\n        count = 1  # here\n", "count = 1  # here"),  # a loop that never ends
        ("    first = messages\n    return first['x']\n", "return first['x']"),  # an error
        ("    return []\n", "def to_wire"),  # a wrong value: the function's first line
    ],
)
def test_the_line_is_where_to_look(mine, body, words):
    solve(mine, ONE, HEADS["1.1"] + body)
    verdict = check_project(mine, "1.1", LIMIT).verdicts[0]
    wanted = line_that(mine, ONE, words)
    assert verdict.line in (wanted, wanted - 1) if "while" in body else verdict.line == wanted


FILES = [
    ("a syntax error", "x = 1\ndef broken(:\n", 2, "This is not Python yet"),
    ("a wrong indentation", "def f():\nreturn 1\n", 2, "This is not Python yet"),
    ("an exit", "import sys\nsys.exit()\n", 2, "It ends Python while it is being loaded"),
    ("an endless loop", "x = 1\nwhile x:\n    x = 1\n", None, "It never ends"),
    ("a package that is not there", "x = 1\nimport nowhere_to_be_found\n", 2, "It imports nowhere_to_be_found"),
    ("the tests", "x = 1\nfrom tests import conftest\n", 2, "It imports tests"),
    ("the bench", "import course.checker\n", 1, "It imports course.checker"),
    ("the solution", "from reference.ch06_prune import prune_old_tool_results\n", 1, "the solution of this chapter"),
    ("the solution, by its package", "from reference import ch06_prune\n", 1, "the solution of this chapter"),
    ("a later chapter", "def f():\n    import reference.ch10_compress\n", 2, "that is a later chapter"),
    ("an error", "x = 1\ny = x / 0\n", 2, "It cannot be loaded: ZeroDivisionError"),
]


@pytest.mark.parametrize(("what", "text", "line", "sentence"), FILES, ids=[row[0] for row in FILES])
def test_a_file_that_cannot_be_run_is_told_with_its_line(mine, what, text, line, sentence):
    write(mine, SIX, text)
    statuses, told = explained(mine, "6")
    assert statuses == {"6.1": WRONG}
    assert sentence in told
    if line:
        assert f"chapters/ch06_prune.py:{line}" in told


def test_an_empty_a_missing_and_a_renamed_file_are_never_green(mine):
    solve(mine, SIX)
    assert explained(mine, "6")[0] == {"6.1": DONE}
    write(mine, SIX, "")
    assert "prune_old_tool_results is not in the file any more" in explained(mine, "6")[1]
    mine.mine(SIX).rename(mine.chapters / "ch06_mine.py")
    statuses, text = explained(mine, "6")
    assert statuses == {"6.1": WRONG}
    assert "The file is not there: `course reset" in text
    mine.mine(SIX).write_bytes(b"x = '\xff'\n")
    assert "not UTF-8" in explained(mine, "6")[1]


def test_one_missing_function_fails_only_its_own_exercise(mine):
    solve(mine, ONE)
    text = read_text(mine.mine(ONE))
    write(mine, ONE, text.replace("def assistant_message(", "def assistant_massage("))
    statuses, told = explained(mine, "1")
    assert statuses == {"1.1": DONE, "1.2": WRONG, "1.3": DONE}
    assert "assistant_message is not in the file any more: `course show 1.2`" in told


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        ("def to_wire(history):", "others call it as to_wire(messages); yours is to_wire(history)"),
        ("def to_wire(messages, strict):", "yours is to_wire(messages, strict)"),
        ("def to_wire():", "yours is to_wire()"),
        ("def to_wire(messages, strict=True):", ""),  # more parameters may follow, with defaults
        ("def to_wire(messages: object) -> object:", ""),  # annotations are nobody's business
    ],
)
def test_a_changed_signature(mine, head, problem):
    solve(mine, ONE)
    text = read_text(mine.mine(ONE)).replace("def to_wire(messages: Iterable[Message]) -> list[Message]:", head)
    write(
        mine, ONE, text.replace("for message in messages:", "for message in history:", 1) if "history" in head else text
    )
    statuses, told = explained(mine, "1")
    assert statuses == {"1.1": WRONG if problem else DONE, "1.2": DONE, "1.3": DONE}
    assert problem in told


def test_a_stub_is_not_started_and_red_is_right(mine):
    statuses, text = explained(mine, "1")
    assert set(statuses.values()) == {NOT_STARTED}
    assert RED_IS_RIGHT in text
    solve(mine, ONE)
    statuses, text = explained(mine, "1")
    assert set(statuses.values()) == {DONE}
    assert RED_IS_RIGHT not in text
    assert "Done: every test passes on chapters/ch01_agent_loop.py." in text


def test_an_answer_that_still_reaches_the_stub_is_wrong_not_untouched(mine):
    stub = mine.stub(ONE)
    begun = stub.replace("    raise NotImplementedError(\"exercise 1.1", "    if messages[0] == {'role': 'user', 'content': 'Hi'}:\n        return messages\n    raise NotImplementedError(\"exercise 1.1")  # fmt: skip
    write(mine, ONE, begun)
    statuses, text = explained(mine, "1.1")
    assert statuses == {"1.1": WRONG}
    assert "is still reached" in text


def test_an_exercise_that_another_one_needs(mine):
    eight = mine.find_chapter(8)
    reference = read_text(mine.reference(eight))
    solved = put_into(mine.stub(eight), _function(reference, "tool_groups"))
    write(mine, eight, solved)
    statuses, text = explained(mine, "8.3")
    assert statuses == {"8.3": WRONG}
    assert "It uses exercise 8.1, which is not written yet: do that one first." in text


def _function(text, name):
    start = text.index(f"def {name}(")
    return text[start : text.index("\n\n\n", start)]


MINUS_ZERO = """def prune_old_tool_results(messages, keep_recent=3):
    results = [i for i, m in enumerate(messages) if m["role"] == "tool"]
    print("results", results)
    pruned = []
    for i, m in enumerate(messages):
        if i in results[:-keep_recent] and not _is_placeholder(m["content"]):
            name = {c["id"]: c["function"]["name"] for n in messages[:i] for c in n.get("tool_calls", [])}[m["tool_call_id"]]
            line = placeholder_for(name, m["content"])
            if picture_count(m["content"]) or text_length(m["content"]) > max(min_chars, len(line)):
                m = {**m, "content": line}
        pruned.append(m)
    return pruned
"""


def test_a_wrong_answer_in_ones_own_words_is_recognised_and_drawn(mine):
    solve(mine, SIX, MINUS_ZERO)
    text = explained(mine, "6.1")[1]
    for line in (
        "  called    prune_old_tool_results(messages, keep_recent=0)",
        "  got       []",
        "  expected  [0, 1, 2]",
        "      2 assistant  read_file(0.md)",
        "  >   3 tool       xxxxxxxxxxxxxxxxxxxxxxxx… 1,000 characters   <- still here",
        "    results [3, 5, 7]",
        "  This looks like: `results[:-keep_recent]` keeps everything when keep_recent is 0, because -0 is 0",
    ):
        assert line in text
    assert max(map(len, text.splitlines())) < 200
    assert len(text.splitlines()) < 40, "what is wrong fits one screen"


def test_verbose_adds_the_traceback(mine):
    solve(mine, SIX, MINUS_ZERO)
    outcome = check_project(mine, "6.1")
    assert "test_ch06_prune.py" in outcome_text(outcome, verbose=True)
    assert "test_ch06_prune.py" not in outcome_text(outcome)


def test_the_file_is_taken_as_it_is_on_disk_now(mine):
    path = mine.mine(SIX)
    for value in (1, 2):
        path.write_text(f"VALUE = {value}\n", encoding="utf-8")
        assert value == load_module(path).VALUE, "the same second, the same size: a compiled file would be stale"


def test_a_class_in_a_learners_file_can_be_a_dataclass(mine):
    write(
        mine,
        SIX,
        "from __future__ import annotations\nfrom dataclasses import dataclass\n\n@dataclass\nclass A:\n    x: int\n",
    )
    assert load_module(mine.mine(SIX)).A(3).x == 3


def test_ascii_for_a_terminal_that_is_not_utf8(mine):
    solve(mine, SIX, MINUS_ZERO)
    text = explained(mine, "6.1")[1]
    assert to_ascii(text).isascii()
    assert "xxx... 1,000 characters" in to_ascii(text)
    assert to_ascii("√ 0.07 × 100") == "\\u221a 0.07 x 100"


def test_a_page_in_a_notebook_says_the_same_as_the_terminal(mine):
    solve(mine, SIX, MINUS_ZERO)
    page = OutcomePage(check_project(mine, "6.1"))
    html, text = page._repr_html_(), repr(page)
    assert not page.is_done
    for words in ("keep_recent=0", "[0, 1, 2]", "still here", "This looks like:", "chapters/ch06_prune.py:"):
        assert words in html
        assert words in text
    assert "course hint" not in html + text
    assert 'hint("6.1")' in text
    write(mine, SIX, HEADS["6.1"] + "    return '<script>alert(1)</script>'\n")
    assert "<script>" not in OutcomePage(check_project(mine, "6.1"))._repr_html_()


def test_the_commands_of_the_terminal_in_words_of_a_cell():
    assert notebook_words("a `course hint 6.1` b `course hint 7.2 2`") == 'a `hint("6.1")` b `hint("7.2", 2)`'


def test_the_notebook_functions_are_there_and_importing_the_package_is_light():
    assert course.mine("ch06").__file__ == str(PROJECT.mine(SIX))
    assert callable(course.check)
    assert "hint 1 of 3" in repr(course.hint("6.1"))
    with pytest.raises(AttributeError):
        course.nothing  # noqa: B018
    code = "import sys, course; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT.root)
    assert not {"pytest", "openai", "typer", "course.checker"} & set(run.stdout.split())


def test_the_commands_of_a_learner_load_no_provider():
    code = "import sys; from course.learning import make_app; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=PROJECT.root)
    assert not {"pytest", "openai", "starlette", "matplotlib", "course.provider"} & set(run.stdout.split())


@pytest.mark.parametrize("what", ["6", 6, "06", "ch06", "ch06_prune", "ch06_prune.py"])
def test_a_chapter_has_many_names(what):
    assert PROJECT.find_chapter(what).stem == "ch06_prune"


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda: PROJECT.find_chapter("99"), "There is no chapter 99 with exercises; there are: 1, 2"),
        (lambda: PROJECT.find_exercise("6.9"), "There is no exercise 6.9; chapter 6 has 6.1"),
        (lambda: PROJECT.find_exercise("6"), "6 names a chapter; an exercise is named like 6.1"),
        (lambda: hint_text(PROJECT, "6.1", 4), "has the hints 1 to 3; found 4"),
    ],
)
def test_a_name_that_does_not_exist_is_one_sentence(ask, sentence):
    with pytest.raises(CheckError, match=re.escape(sentence)):
        ask()


def test_hints_say_more_each_time():
    hints = [hint_text(PROJECT, "6.1", level) for level in (1, 2, 3)]
    assert "More: `course hint 6.1 2`" in hints[0]
    assert "course show 6.1 --solution" in hints[2]
    assert "for index, message in enumerate(messages):" in hints[2]


def test_show_prints_the_contract_and_only_if_asked_the_solution():
    assert "Results of up to `min_chars` characters stay" in show_text(PROJECT, "6.1")
    assert "NotImplementedError" in show_text(PROJECT, "6.1")
    solution = show_text(PROJECT, "1.3", solution=True)
    assert solution.splitlines()[3].startswith("def run(self")
    assert "EXERCISE" not in solution
    assert "self.query()" in solution


def test_diff_shows_what_separates_the_file_from_the_solved_one(mine):
    assert '-    raise NotImplementedError("exercise 6.1' in diff_text(mine, SIX)
    solved = [line for line in read_text(mine.reference(SIX)).split("\n") if " EXERCISE " not in line]
    write(mine, SIX, "\n".join(solved))
    assert diff_text(mine, SIX) == ""


def test_reset_keeps_a_dated_copy(mine):
    now = datetime(2030, 1, 2, 3, 4, 5)
    path, copy = reset(mine, SIX, now)
    assert copy is None, "nothing was written, so there is nothing to keep"
    for number, text in enumerate(("mine = 1\n", "mine = 2\n")):
        write(mine, SIX, text)
        path, copy = reset(mine, SIX, now)
        assert read_text(path) == mine.stub(SIX)
        assert copy.name == f"ch06_prune-2030-01-02-030405{'-2' if number else ''}.py"
        assert read_text(copy) == text
    path.unlink()
    assert reset(mine, SIX, now)[1] is None, "a file that was deleted comes back"
    assert path.exists()


def test_status_lists_every_exercise_and_the_next_one(mine):
    solve(mine, ONE)
    numbers = [hole.number for chapter in (ONE, SIX) for hole in chapter.holes]
    text = status_text(check_exercises(mine, [ONE, SIX], numbers))
    assert "1.1  done " in text
    assert "6.1  not started " in text
    assert "3 of 4 done. Next: 6.1 in chapters/ch06_prune.py:" in text


def test_the_doctor_examines_and_says_what_to_do(tmp_path):
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    findings = {finding.what: finding for finding in examine(PROJECT, terminal)}
    assert findings["Python"].advice == ""
    assert findings["the provider"].found == "it starts and answers"
    assert "PYTHONUTF8=1" in findings["terminal"].advice
    assert is_well([findings["terminal"]]), "a terminal without UTF-8 is no obstacle"
    missing = {finding.what: finding for finding in examine(Project(PROJECT.root, tmp_path / "none"), terminal)}
    assert "course reset 1" in missing["chapters"].advice
    assert not is_well(list(missing.values()))
    assert "!!  chapters" in report_text(list(missing.values()))


def course_command(*arguments):
    result = CliRunner().invoke(make_app(), list(arguments))
    return result.exit_code, result.output


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["hint", "6.1"], 0, "6.1, hint 1 of 3"),
        (["hint", "6.1", "3"], 0, "hint 3 of 3"),
        (["show", "6.1"], 0, "def prune_old_tool_results("),
        (["hint", "66.1"], 2, "There is no chapter 66"),
        (["check", "6.7"], 2, "There is no exercise 6.7"),
        (["diff", "0"], 2, "There is no chapter 0"),
    ],
)
def test_the_command_line(arguments, code, words):
    assert course_command(*arguments)[0] == code
    assert words in course_command(*arguments)[1]


def test_check_prints_the_learners_path_and_its_code_says_how_it_went():
    code, output = course_command("check", "6")
    assert "chapters/ch06_prune.py:" in output
    assert code == (0 if "6.1  done" in output else 1)


def run_pytest(*arguments):
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=PROJECT.root, capture_output=True, text=True, encoding="utf-8", check=False)


def test_pytest_tests_the_reference_and_says_so():
    run = run_pytest("tests/test_ch06_prune.py")
    assert "testing the reference; `pytest --mine` tests your files" in run.stdout
    assert run.returncode == 0


def test_pytest_mine_tests_the_learners_files_and_is_red_for_stubs(mine):
    run = run_pytest("--mine", "--chapters", str(mine.chapters), "tests/test_ch06_prune.py", "tests/test_properties.py")
    assert "testing YOUR files in chapters/" in run.stdout
    assert run.returncode == 1
    assert " passed" not in run.stdout, "a test that looks at the reference is not run"
    solve(mine, SIX)
    assert run_pytest("--mine", "--chapters", str(mine.chapters), "tests/test_ch06_prune.py").returncode == 0


def test_every_hint_file_belongs_to_a_chapter():
    names = {path.stem for path in Path(PROJECT.root, "hints").iterdir()}
    assert names <= {f"ch{chapter.number:02}" for chapter in PROJECT.chapter_list()}


def test_a_changed_input_is_put_back_for_the_next_test():
    inner = {"a": [1, {"b": 2}]}
    value = [inner, "x"]
    put_back = keeper(value)
    inner["a"][1]["b"] = 3
    inner["a"].append(4)
    inner["c"] = 5
    value.reverse()
    put_back()
    assert value == [{"a": [1, {"b": 2}]}, "x"]
    assert value[0] is inner, "the same objects, not copies"


def test_what_no_terminal_should_get_is_written_as_in_python(mine):
    body = "    print('\\x1b[31mred\\x00')\n    return [{'role': 'user', 'content': 'half \\ud83d'}]\n"
    solve(mine, ONE, HEADS["1.1"] + body)
    text = explained(mine, "1.1")[1]
    assert "\\x1b[31mred\\x00" in text
    assert "half \\ud83d" in text
    assert text.replace("\n", "").isprintable()


def test_the_command_begins_light_and_knows_every_command():
    code = "import sys; sys.argv = ['course', 'hint', '6.1']; from course.entry import main; main()"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=PROJECT.root, check=False)
    assert run.returncode == 0
    assert b"hint 1 of 3" in run.stdout
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=PROJECT.root, check=False, env=environment
    )
    assert run.stdout.isascii()
    assert run.returncode == 0


def test_another_folder_for_the_learners_files(mine, monkeypatch):
    monkeypatch.setenv("COURSE_CHAPTERS", str(mine.chapters))
    write(mine, SIX, "VALUE = 7\n")
    assert course.mine(6).VALUE == 7
    assert course.check("6.1").outcome.verdicts[0].status == WRONG
