"""The stub generator: text in, text out; wrong marks are told with their line; what a learner wrote is never lost."""

from __future__ import annotations

import pytest

from course.stubs import (
    StubError,
    find_holes,
    make_stub,
    make_stubs,
    read_text,
    recorded,
    stale_stubs,
    write_stubs,
)

SOURCE = '''"""A lesson — with Ünïcode."""


def one(messages):
    """The first."""
    # BEGIN EXERCISE 7.1 Return the "first" message.
    return messages[0]
    # END EXERCISE 7.1


class Box:
    def two(self):
        before = 1
        # BEGIN EXERCISE 7.2 Return two.
        if before:
            return 2

        return 3
        # END EXERCISE 7.2
'''
STUB = '''"""A lesson — with Ünïcode."""


def one(messages):
    """The first."""
    raise NotImplementedError("exercise 7.1: Return the \\"first\\" message.")


class Box:
    def two(self):
        before = 1
        raise NotImplementedError("exercise 7.2: Return two.")
'''


def test_each_marked_region_becomes_one_raising_line():
    assert make_stub(SOURCE, "ch07_x.py") == STUB
    assert [(hole.number, hole.owner) for hole in find_holes(SOURCE, "ch07_x.py")] == [
        ("7.1", "one"),
        ("7.2", "Box.two"),
    ]


@pytest.mark.parametrize(
    ("change", "stub"),
    [
        (lambda text: text.replace("\n", "\r\n"), STUB.replace("\n", "\r\n")),  # a checkout on Windows
        (lambda text: text.rstrip("\n"), STUB.rstrip("\n")),  # no line end at the end
        (
            lambda text: text + "# \x0c \x85 \u2028 x\n",
            STUB + "# \x0c \x85 \u2028 x\n",
        ),  # no line ends, though some think so
        (lambda text: text + "\t# odd  \n", STUB + "\t# odd  \n"),
    ],
)
def test_every_other_byte_stays(change, stub):
    assert make_stub(change(SOURCE), "ch07_x.py") == stub


def test_a_text_without_marks_is_its_own_stub():
    assert make_stub("x = 1\n", "ch07_x.py") == "x = 1\n"


BEGIN, END = "# BEGIN EXERCISE 7.1 Do it.\n", "# END EXERCISE 7.1\n"
WRONG_MARKS = [
    ("nested", BEGIN + "# BEGIN EXERCISE 7.2 Do.\n" + END, "ch07_x.py:2: an exercise begins inside exercise 7.1"),
    ("not closed", "x = 1\n" + BEGIN, "ch07_x.py:2: exercise 7.1 has no END line"),
    ("closed twice", BEGIN + END + END, "ch07_x.py:3: an exercise ends here, and none has begun"),
    ("closed by another", BEGIN + "# END EXERCISE 7.2\n", "ch07_x.py:2: exercise 7.1 ends with"),
    ("another chapter's", BEGIN.replace("7.1", "8.1") + END, "ch07_x.py:1: exercise 8.1 stands where 7.1 is due"),
    ("out of order", BEGIN.replace("7.1", "7.2") + END, "ch07_x.py:1: exercise 7.2 stands where 7.1 is due"),
    ("twice", (BEGIN + END) * 2, "ch07_x.py:3: exercise 7.1 stands where 7.2 is due"),
    ("no task", "# BEGIN EXERCISE 7.1\n" + END, "ch07_x.py:1: write `# BEGIN EXERCISE N.M <task>`"),
    ("no number", "# BEGIN EXERCISE\n" + END, "ch07_x.py:1: write"),
    ("behind code", "x = 1  " + BEGIN + END, "ch07_x.py:1: write `# BEGIN EXERCISE N.M <task>` on a line of its own"),
]


@pytest.mark.parametrize(("what", "text", "problem"), WRONG_MARKS, ids=[row[0] for row in WRONG_MARKS])
def test_wrong_marks_are_told_with_file_and_line(what, text, problem):
    with pytest.raises(StubError) as told:
        make_stub(text, "ch07_x.py")
    assert str(told.value).startswith(problem)


def test_marks_in_a_file_without_a_chapter_number():
    with pytest.raises(StubError, match="named chNN_topic"):
        make_stub(BEGIN + END, "messages.py")


@pytest.fixture
def folders(tmp_path):
    reference, chapters = tmp_path / "reference", tmp_path / "chapters"
    reference.mkdir()
    chapters.mkdir()
    (reference / "ch07_x.py").write_text(SOURCE, encoding="utf-8")
    (reference / "ch08_y.py").write_text("x = 1\n", encoding="utf-8")
    return reference, chapters


def test_writing_and_comparing(folders):
    reference, chapters = folders
    assert stale_stubs(reference, chapters) == ["ch07_x.py is missing: run `course stubs`"]
    assert write_stubs(reference, chapters) == ["ch07_x.py"], "a chapter without exercises has no stub"
    assert read_text(chapters / "ch07_x.py") == STUB
    assert stale_stubs(reference, chapters) == []
    assert write_stubs(reference, chapters) == [], "what is current is not written again"


def test_a_stub_that_nobody_edited_follows_its_reference(folders):
    reference, chapters = folders
    write_stubs(reference, chapters)
    (reference / "ch07_x.py").write_text(SOURCE.replace("before = 1", "before = 2"), encoding="utf-8")
    assert stale_stubs(reference, chapters) == ["ch07_x.py is older than its reference: run `course stubs`"]
    assert write_stubs(reference, chapters) == ["ch07_x.py"]
    assert recorded(chapters).keys() == make_stubs(reference).keys()


def test_what_a_learner_wrote_is_never_overwritten(folders):
    reference, chapters = folders
    write_stubs(reference, chapters)
    mine = STUB.replace("raise NotImplementedError", "return 2 or print")
    (chapters / "ch07_x.py").write_text(mine, encoding="utf-8")
    (reference / "ch09_z.py").write_text(SOURCE.replace("7.", "9."), encoding="utf-8")
    with pytest.raises(StubError, match=r"ch07_x.py: you wrote in there.*course reset 7"):
        write_stubs(reference, chapters)
    assert read_text(chapters / "ch07_x.py") == mine
    assert not (chapters / "ch09_z.py").exists(), "one edited file, and nothing is written at all"
    assert "ch07_x.py was edited" in stale_stubs(reference, chapters)


def test_windows_line_ends_are_no_edit(folders):
    reference, chapters = folders
    write_stubs(reference, chapters)
    path = chapters / "ch07_x.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert stale_stubs(reference, chapters) == []
