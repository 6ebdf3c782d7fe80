"""What `course grade` makes of submissions, good, wrong and hostile, by running them in its box."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
import shutil
import stat
import subprocess
import sys
import threading
import zipfile

import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

from course.checker.answers import put_into, read_answers
from course.checker.project import find_project
from course.checker.verdict import DONE, NOT_STARTED, WRONG
from course.grader.baseline import Baseline
from course.grader.box import MARK, open_box
from course.grader.channel import make_opener, make_sealer
from course.grader.command import grade, grade_folder, make_bar
from course.grader.judging import Judge, find_baseline
from course.grader.limits import Powers, powers, warning
from course.grader.results import COLUMNS, MISSING, REFUSED, TAMPERED, ResultsError, clean, read_results
from course.grader.screen import find_forbidden
from course.grader.seals import first_broken, odd_class
from course.grader.submissions import MAX_FILE, SubmissionError, find_submissions, read_submission
from course.stubs import read_text

PROJECT = find_project()
OUTSIDE = PROJECT.root / "a-submission-was-here"  # outside of every scratch folder
SIX, TWELVE = PROJECT.find_chapter(6), PROJECT.find_chapter(12)
STEMS = [chapter.stem for chapter in PROJECT.chapter_list()]
SOLVED = read_text(PROJECT.reference(SIX))
FUTURE = "from __future__ import annotations\n"
ABLE = powers(PROJECT.root)
HEAD = "def prune_old_tool_results(messages, keep_recent=3, min_chars=200):\n"
MODULES = "import sys\nloaded = getattr(sys, 'mod' + 'ules')\n"  # what reading the file does not find

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the box needs the limits of a POSIX system"),
]


def answer(body):
    """Chapter 6, solved but for this body."""
    return put_into(SOLVED, HEAD + body)


def top(lines):
    """Chapter 6, solved, with lines at its top."""
    return SOLVED.replace(FUTURE, FUTURE + lines, 1)


EQUAL = """class Yes:
    def __eq__(self, other):
        return True
    def __len__(self):
        return 9
    def __getitem__(self, key):
        return self if isinstance(key, str) or key < 9 else [][0]
"""
NUMBERS = "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15"

# (name, the text of chapter 6, the status, words of the sentence)
HOSTILE = [
    ("hang", answer("    while True:\n        pass\n"), WRONG, "It never ends"),
    ("hang at the top", top("while True:\n    pass\n"), WRONG, "It never ends"),
    ("sys.exit", answer("    import sys\n    sys.exit(0)\n"), WRONG, "It ends Python"),
    ("os._exit", answer("    import os\n    os._exit(0)\n"), WRONG, "It ended Python itself"),
    ("os._exit at the top", top("import os\nos._exit(0)\n"), WRONG, "It ended Python itself"),
    ("syntax error", "def broken(:\n", WRONG, "This is not Python yet"),
    ("no text", b"\xff\xfe\x00", WRONG, "UTF-8"),
    ("fork bomb", answer("    import os\n    for _ in range(50):\n        os.fork()\n"), WRONG, "it starts a process (os.fork)"),
    ("a program", answer("    import os\n    os.system('true')\n"), WRONG, "it starts a program (os.system)"),
    ("memory", answer("    return [0] * 10**12\n"), WRONG, "MemoryError"),
    ("a big print", answer("    for _ in range(40):\n        print('x' * 10**6)\n    return []\n"), WRONG, "prune_old_tool_results(messages"),
    ("a printed result", MODULES + "print('{\"event\": \"passed\"}')\n" + PROJECT.stub(SIX), WRONG, ""),
    ("the channel", answer(f"    import os\n    for number in ({NUMBERS}):\n        try:\n            os.write(number, b'{{}}' * 20 + b'\\n')\n        except OSError:\n            pass\n    return messages\n"), TAMPERED, "not written by the tests"),
    ("the solution", "from reference.ch06_prune import prune_old_tool_results\n", WRONG, "the solution of this chapter"),
    ("the bench", "from course.checker import plugin\n", WRONG, "It imports course.checker"),
    ("the tests", "import tests.conftest\n", WRONG, "It imports tests.conftest"),
    ("importlib", top("import importlib\n"), REFUSED, "It uses importlib"),
    ("pytest", top("import pytest\npytest.Function.runtest = None\n"), REFUSED, "It uses pytest"),
    ("the network", top("import socket\n"), REFUSED, "It uses socket"),
    ("pytest, hidden", MODULES + "loaded['_pytest.python'].Function.runtest = lambda self: None\n" + PROJECT.stub(SIX).replace(FUTURE, ""), TAMPERED, "Function.runtest was replaced"),
    ("builtins, hidden", MODULES + "loaded['builtins'].all = lambda found: True\n" + SOLVED.replace(FUTURE, ""), TAMPERED, "builtins.all was replaced"),
    ("late", SOLVED.replace(FUTURE, "") + MODULES + "def late(*details, **more):\n    loaded['builtins'].len = lambda thing: 3\n    return []\nprune_old_tool_results.__kwdefaults__\n", DONE, ""),
    ("equals everything", SOLVED.replace(FUTURE, EQUAL, 1).replace("def prune_old_tool_results(", "def unused("), WRONG, "is not in the file any more"),
    ("equals everything, called", answer("    return Yes()\n").replace(FUTURE, FUTURE + EQUAL, 1), TAMPERED, "Yes, a class that says itself what it equals"),
    ("deletes its folder", answer("    import shutil\n    shutil.rmtree('/', ignore_errors=False)\n"), WRONG, "PermissionError"),
    ("deletes itself", answer("    from pathlib import Path\n    Path(__file__).unlink()\n"), WRONG, "Error"),
    ("writes outside", answer(f"    open({str(OUTSIDE)!r}, 'w')\n"), WRONG, "its own scratch folder only"),
    ("reads the environment", answer("    import os\n    raise ValueError('|'.join(sorted(os.environ.values())))\n"), WRONG, "ValueError"),
]  # fmt: skip


def hand_in(folder, name, text, file="ch06_prune.py"):
    """A submission with one file."""
    place = folder / name / "chapters"
    place.mkdir(parents=True, exist_ok=True)
    place.joinpath(file).write_bytes(text if isinstance(text, bytes) else text.encode())


def zipped(folder, name, files):
    """A zip with these files."""
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data)


def quiet():
    return Console(file=io.StringIO())


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    """A judge who has run the course's own solution once."""
    folder = tmp_path_factory.mktemp("compiled")
    return find_baseline(Judge(PROJECT, ABLE, time_limit=3.0, whole_limit=120.0), folder / "cache")


@pytest.fixture(scope="module")
def graded(judge, tmp_path_factory):
    """(folder, results of chapter 6 by submission, the CSV, the JSON) of one run over everything."""
    base = tmp_path_factory.mktemp("class")
    folder = base / "submissions"
    wrong = next(a for a in read_answers(PROJECT, SIX, "wrong") if a.exercise == "6.1")
    kinds = [("good", SOLVED), ("stub", PROJECT.stub(SIX)), ("one wrong", put_into(SOLVED, wrong.text))]
    for name, text in [*kinds, *((row[0], row[1]) for row in HOSTILE)]:
        hand_in(folder, name, text)
    zipped(folder, "good.zip", {"ada/chapters/ch06_prune.py": SOLVED})
    edited = {
        "tests/test_ch06_prune.py": "def test(): pass\n",
        "conftest.py": "import os\nos._exit(0)\n",
        "pytest.ini": "[pytest]\n",
    }
    zipped(folder, "edited tests.zip", {"chapters/ch06_prune.py": PROJECT.stub(SIX), **edited})
    hand_in(folder, "two chapters", top("import importlib\n"))
    hand_in(folder, "two chapters", read_text(PROJECT.reference(TWELVE)), "ch12_task_state.py")
    hand_in(
        folder,
        "tampered beside good",
        MODULES + "loaded['builtins'].all = lambda found: True\n" + SOLVED.replace(FUTURE, ""),
    )
    hand_in(folder, "tampered beside good", read_text(PROJECT.reference(TWELVE)), "ch12_task_state.py")
    (folder / "a file.txt").write_text("no submission")
    os.environ["COURSE_TEST_SECRET"] = "sesame-4711"
    try:
        results = grade_folder(folder, base / "out.csv", base / "out.json", judge, 2, quiet())
    finally:
        del os.environ["COURSE_TEST_SECRET"]
    return folder, results, base / "out.csv", base / "out.json"


def row_of(graded, name, exercise="6.1"):
    return next(row for row in graded[1][name].rows if row.exercise == exercise)


def test_a_good_submission_is_done_as_a_folder_and_as_a_zip(graded):
    for name in ("good", "good.zip"):
        row = row_of(graded, name)
        assert (row.status, row.sentence) == (DONE, "Every test passes.")
        assert row.passed == row.tests > 5
        assert graded[1][name].done == 1


def test_a_stub_is_not_started_and_what_was_not_handed_in_is_missing(graded):
    assert row_of(graded, "stub").status == NOT_STARTED
    row = row_of(graded, "stub", "1.1")
    assert (row.status, row.sentence) == (MISSING, "ch01_agent_loop.py is not in the submission.")


def test_a_wrong_answer_has_the_sentence_that_the_learner_would_have_seen(graded):
    row = row_of(graded, "one wrong")
    assert row.status == WRONG
    assert "This looks like: " in row.sentence
    assert "prune_old_tool_results(" in row.shown
    assert "`course hint 6.1`" in row.shown
    assert row.line > 1


@pytest.mark.parametrize(("name", "text", "status", "words"), HOSTILE, ids=[row[0] for row in HOSTILE])
def test_each_hostile_submission_gets_what_it_deserves(graded, name, text, status, words):
    row = row_of(graded, name)
    assert (row.status, words in row.sentence) == (status, True), row
    assert "sesame-4711" not in row.sentence + row.shown


def test_tests_in_a_submission_are_not_run(graded):
    assert row_of(graded, "edited tests.zip").status == NOT_STARTED


def test_a_bad_chapter_costs_no_other_chapter(graded):
    for name, status in (("two chapters", REFUSED), ("tampered beside good", TAMPERED)):
        assert row_of(graded, name).status == status
        assert {row_of(graded, name, number).status for number in ("12.1", "12.2", "12.3")} == {DONE}


def test_nothing_is_left_running_and_nothing_was_written(graded):
    assert not OUTSIDE.exists()
    for number in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else []):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                assert f"{MARK}=".encode() not in file.read()
        except OSError:
            continue


def test_the_table_has_the_same_columns_for_ever_and_a_row_for_each_exercise(graded):
    _, results, path, _ = graded
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    assert tuple(rows[0]) == COLUMNS
    assert COLUMNS == (
        "submission",
        "exercise",
        "status",
        "points",
        "passed",
        "tests",
        "file",
        "line",
        "sentence",
        "digest",
    )
    exercises = sum(len(chapter.holes) for chapter in PROJECT.chapter_list())
    assert len(rows) == 1 + exercises * len(results)
    assert [row[0] for row in rows[1:]] == sorted(row[0] for row in rows[1:])
    assert all(len(row) == len(COLUMNS) and "\n" not in row[8] for row in rows)


def test_the_json_has_the_screen_as_well(graded):
    found = json.loads(graded[3].read_text(encoding="utf-8"))
    shown = {s["submission"]: {row["exercise"]: row["shown"] for row in s["exercises"]} for s in found["submissions"]}
    assert "expected" in shown["one wrong"]["6.1"]
    assert shown["good"]["6.1"] == ""


def test_it_goes_on_where_it_was(graded, judge, tmp_path):
    folder, _, path, screens = graded
    again, told = tmp_path / "again.csv", tmp_path / "again.json"
    again.write_text(path.read_text(encoding="utf-8").replace("Every test passes.", "Judged before."), encoding="utf-8")
    shutil.copy(screens, told)
    results = grade_folder(folder, again, told, judge, 2, quiet())
    assert {row.sentence for row in results["good"].rows if row.status == DONE} == {"Judged before."}
    assert told.read_text(encoding="utf-8").replace("Judged before.", "Every test passes.") == screens.read_text(
        encoding="utf-8"
    )


def test_a_submission_that_was_changed_is_judged_anew(judge, tmp_path):
    folder, path = tmp_path / "in", tmp_path / "out.csv"
    hand_in(folder, "ada", "def broken(:\n")
    hand_in(folder, "=cmd()", "import socket\n")  # a spreadsheet would run a name like this
    first = grade_folder(folder, path, None, judge, 2, quiet())
    assert "'=cmd()" in path.read_text(encoding="utf-8")
    assert read_results(path).keys() == first.keys()
    hand_in(folder, "ada", "import socket\n")
    assert row_of((0, grade_folder(folder, path, None, judge, 2, quiet())), "ada").status == REFUSED


def run_in_box(code):
    """(the first line that a program prints in the box, the processes that are left of it once it was killed)."""
    with open_box(PROJECT.root, ABLE, 0) as box:
        command = box.entered([os.path.abspath(sys.executable), "-I", "-c", code])
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=box.environment(), start_new_session=True
        ) as process:
            try:
                line = process.stdout.readline().decode().strip()
            finally:
                box.kill(process)
            return line, list(box.left_over())


needs_user = pytest.mark.skipif(not ABLE.user, reason="needs to be root, to run a submission as another user")

FORKS = """
import os, time
made, refused = 0, 0
for _ in range(200):
    try:
        if os.fork() == 0:
            os.setsid()
            time.sleep(20)
            os._exit(0)
        made += 1
    except OSError:
        refused += 1
print(made, refused, flush=True)
time.sleep(20)
"""


@needs_user
def test_the_system_itself_ends_a_fork_bomb_and_nothing_of_it_stays():
    line, left = run_in_box(FORKS)  # 200 forks and no more, whatever holds
    made, refused = map(int, line.split())
    assert made < 100
    assert refused > 100
    assert left == []


@needs_user
def test_the_system_itself_closes_what_is_not_the_submissions_own():
    tries = ["open('/etc/passwd', 'a')", f"open({str(PROJECT.root / 'tests' / 'x')!r}, 'w')", "os.listdir('/root')[9]", "os.setuid(0)",
             "open('../chapters/x', 'w')", "bytearray(3 * 10**9)", "open('big', 'wb').write(b'x' * 10**8)"]  # fmt: skip
    code = "import os, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nout = []\n"
    code += "".join(
        f"try:\n    {each}\n    out.append('done')\nexcept BaseException as e:\n    out.append(type(e).__name__)\n"
        for each in tries
    )
    line, _ = run_in_box(code + "print(out, flush=True)\n")
    assert "done" not in line, line
    assert line.count("Error") == len(tries)


@pytest.mark.skipif(not ABLE.namespaces, reason="needs `unshare`, as root")
def test_the_box_has_no_network_and_sees_no_other_process():
    code = "import os, socket\ns = socket.socket(); s.settimeout(1)\ntry:\n    s.connect(('127.0.0.1', 22)); r = 'connected'\nexcept OSError as e:\n    r = type(e).__name__\n"
    code += "print(r, len([n for n in os.listdir('/proc') if n.isdigit()]), sorted(os.listdir('/home')), flush=True)"
    line, _ = run_in_box(code)
    assert line == "OSError 1 []"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="needs /proc")
def test_a_process_that_left_its_session_is_found_by_the_mark():
    with open_box(PROJECT.root, Powers(True, False, False), 0) as box:
        code = "import os, time\nif os.fork() == 0:\n    os.setsid()\n    print('there', flush=True)\n    time.sleep(20)\nelse:\n    time.sleep(20)"
        command = [os.path.abspath(sys.executable), "-I", "-c", code]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, env=box.environment(), start_new_session=True
        ) as process:
            assert process.stdout.readline() == b"there\n"
            assert len(list(box.left_over())) == 2
            box.kill(process)
        assert list(box.left_over()) == []


def test_without_another_user_the_guard_alone_gives_the_same_sentences(judge, tmp_path):
    folder = tmp_path / "in"
    rows = {row[0]: row for row in HOSTILE if row[0] in ("fork bomb", "writes outside", "os._exit", "deletes itself")}
    for name, text, *_ in rows.values():
        hand_in(folder, name, text)
    plain = dataclasses.replace(judge, able=Powers(True, False, False))
    results = grade_folder(folder, tmp_path / "out.csv", None, plain, 2, quiet())
    for name, _, status, words in rows.values():
        row = row_of((0, results), name)
        assert (row.status, words in row.sentence) == (status, True), row
    assert "as root in a container" in warning(plain.able)
    assert "no limits" in warning(Powers(False, False, False))


def test_what_is_wrong_with_a_file_that_is_not_read(tmp_path):
    folder = tmp_path / "links" / "chapters"
    folder.mkdir(parents=True)
    folder.joinpath("ch06_prune.py").symlink_to("/etc/passwd")
    os.mkfifo(folder / "ch05_budget.py")
    folder.joinpath("ch07_boundaries.py").write_bytes(b"#" * (MAX_FILE + 1))
    refused = read_submission(tmp_path / "links", STEMS).refused
    assert "symbolic link" in refused["ch06_prune"]
    assert "not a file" in refused["ch05_budget"]
    assert "larger than 512 KB" in refused["ch07_boundaries"]
    (tmp_path / "folder link").symlink_to(tmp_path / "links")
    assert [path.name for path in find_submissions(tmp_path, STEMS)] == ["links"]


def test_hostile_zips(tmp_path):
    out = {"../../chapters/ch06_prune.py": "x", "/chapters/ch06_prune.py": "x", "a/../chapters/ch06_prune.py": "x"}
    zipped(tmp_path, "escape.zip", out)
    assert read_submission(tmp_path / "escape.zip", STEMS).files == {}
    zipped(tmp_path, "bomb.zip", {"chapters/ch06_prune.py": b"#" * 50_000_000})
    assert "larger than 512 KB" in read_submission(tmp_path / "bomb.zip", STEMS).refused["ch06_prune"]
    link = zipfile.ZipInfo("chapters/ch06_prune.py")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    zipped(tmp_path, "link.zip", {link: "/etc/passwd"})
    assert "symbolic link" in read_submission(tmp_path / "link.zip", STEMS).refused["ch06_prune"]
    zipped(tmp_path, "many.zip", {f"{n}.txt": "" for n in range(5_001)})
    assert "at most 5,000" in read_submission(tmp_path / "many.zip", STEMS).problem
    (tmp_path / "none.zip").write_bytes(b"PK\x03\x04 and no more")
    assert "It cannot be read: BadZipFile" in read_submission(tmp_path / "none.zip", STEMS).problem


@pytest.mark.parametrize("place", ["chapters/", "ada/chapters/", "", "ada/"])
def test_where_the_chapters_may_stand(tmp_path, place):
    path = tmp_path / "ada" / place / "ch06_prune.py"
    path.parent.mkdir(parents=True)
    path.write_text("x = 1\n")
    zipped(tmp_path, "ada.zip", {f"{place}ch06_prune.py": "x = 1\n", "__MACOSX/chapters/._ch06_prune.py": "?"})
    for name in ("ada", "ada.zip"):
        assert read_submission(tmp_path / name, STEMS).files == {"ch06_prune": b"x = 1\n"}


def test_a_line_that_was_not_sealed_or_comes_again_does_not_count():
    seal, unseal = make_sealer(b"k" * 32), make_opener(b"k" * 32)
    first, second = seal({"event": "a"}), seal({"event": "b"})
    assert unseal(first.strip()) == {"event": "a"}
    assert unseal(first.strip()) is None
    assert make_opener(b"k" * 32)(second.strip()) is None, "one was left out"
    assert make_opener(b"x" * 32)(first.strip()) is None


def test_done_has_to_be_proved():
    proved = Judge(PROJECT, ABLE, Baseline({"6.1": ["a", "b"]}, {"6.1": ["b"]}))
    steps = [{"event": kind, "exercise": "6.1", "test": name} for name in "ab" for kind in ("start", "passed")]
    canary = {"event": "canary failed", "exercise": "6.1", "test": "b"}
    assert proved._unproved("6.1", [*steps, canary]) == ""
    assert "did not" in proved._unproved("6.1", steps)
    assert "not the tests" in proved._unproved("6.1", [*steps[2:], *steps[:2], canary])
    assert "not the tests" in proved._unproved("6.1", [*steps[:2], canary])


def test_seals_and_odd_classes():
    class Odd(str):
        def __eq__(self, other):
            return True

        __hash__ = str.__hash__

    place = type("place", (), {"f": len})
    assert first_broken([(place, "f", len)]) == ""
    place.f = max
    assert first_broken([(place, "f", len)]) == "place.f"
    assert odd_class([{"a": ("b", Odd("c"))}], os) == "Odd"
    assert odd_class([{"a": ("b", 1, None, 2.0)}, {"x"}], os) == ""


def test_no_answer_that_the_course_knows_is_refused_by_reading_it():
    for chapter in PROJECT.chapter_list():
        assert find_forbidden(read_text(PROJECT.reference(chapter))) is None
        for kind in ("right", "wrong"):
            for one in read_answers(PROJECT, chapter, kind):
                assert find_forbidden(one.text) is None, one.name


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "x = ().__class__.__base__",
        "getattr(f, '__globals__')",
        "import sys\nsys.modules",
        "from sys import modules",
        "eval('1')",
        "import unittest.mock",
        "from sys import _getframe",
    ],
)
def test_what_reading_a_file_finds(text):
    line, sentence = find_forbidden("x = 1\n" + text)
    assert line >= 2
    assert sentence.startswith("It uses ")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda path: None, "is not a folder"),
        (lambda path: path.mkdir(), "holds no submission"),
        (lambda path: (path / "chapters").mkdir(parents=True), "is one submission"),
    ],
)
def test_a_folder_that_cannot_be_graded_is_one_sentence(tmp_path, make, words):
    make(tmp_path / "in")
    with pytest.raises(SubmissionError, match=words):
        find_submissions(tmp_path / "in", STEMS)


def test_a_table_that_is_something_else_is_not_overwritten(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("name,grade\nada,1\n")
    with pytest.raises(ResultsError, match="is not a result of `course grade`"):
        read_results(path)
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ResultsError, match="cannot be read"):
        read_results(path)


def test_the_command_line_ends_with_a_sentence_and_shows_no_bar_in_a_pipe(tmp_path):
    app = typer.Typer()
    app.command()(grade)
    result = CliRunner().invoke(app, [str(tmp_path / "none"), "--csv", str(tmp_path / "out.csv")])
    assert result.exit_code == 2
    assert "is not a folder" in result.output
    assert make_bar(quiet()).disable


def test_texts_are_clean_for_a_table():
    assert clean("a\x1b[31m\nb\u202ec\ud800") == "a [31m b c"
    assert clean("a\nb\x00", keep_lines=True) == "a\nb "


def test_a_stop_ends_what_is_running():
    with open_box(PROJECT.root, Powers(True, False, False), 0, stop=threading.Event()) as box:
        box.stop.set()
        events, how = box.talk([sys.executable, "-c", "import time; time.sleep(60)"], b"", b"k" * 32, 60)
        assert (events, how) == ([], "over")
