"""The score of a report: the rule for what a line should say, and how lines are counted."""

from pathlib import Path

import pytest

from course.noting import note_for, report_line
from course.scoring import expected_line, score
from course.workspace import Workspace


@pytest.mark.parametrize(
    ("page", "note"),
    [
        ("# Title\n\nFact: 417 barrels.\nFact: more\n", "417 barrels."),  # the first fact wins over the first line
        ("intro\nNo Fact: here\n", "intro"),  # a fact begins its line
        ("Fact:\nFact:  two   spaces \n", "two spaces"),  # an empty fact says nothing
        ("\n\n  # Title \n", "Title"),
        ('"""Chapter 6: prune."""\n', 'Chapter 6: prune."""'),
        ("#!/bin/sh\necho\n", "bin/sh"),
        ("// ---\n/* start */\n", "start */"),
        ("<!-- note -->\n", "note -->"),
        ("\ufeffBOM first\n", "BOM first"),
        ("- item - two\n", "item - two"),
        ("漢字のファイル\n", "漢字のファイル"),
        ("----\n****\n", "(no words)"),
        (" \n", "(no words)"),
        ("", "(empty file)"),
        ("(empty file)", "(empty file)"),  # what read_file says of an empty file
        ("x" * 300, "x" * 100),
        ("one\u2028two\n", "one"),  # a line break of Unicode ends a line
        ("...\n[page ends at character 3 of 9: read_file(path, offset=3) for more]", "(no words)"),  # not its words
    ],
)
def test_what_a_line_should_say(page: str, note: str) -> None:
    assert note_for(page) == note


def test_only_the_first_page_counts(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("Opening words\n" + "x " * 4_000 + "\nFact: too late\n")
    assert expected_line(tmp_path, "long.txt") == "Opening words"
    assert expected_line(tmp_path, "long.txt", page_bytes=20_000) == "too late"
    assert expected_line(tmp_path, "gone.txt") == "could not be read"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """Three files, one with a colon in its name."""
    root = tmp_path / "root"
    root.mkdir()
    for name in ("a.md", "b.md", "c: d.md"):
        (root / name).write_text(f"words of {name}\n")
    return Workspace(root, tmp_path / "report.md")


GOOD = ["- a.md: words of a.md", "- b.md: words of b.md", "- c: d.md: words of c: d.md"]


@pytest.mark.parametrize(
    ("lines", "counts"),
    [
        (GOOD, (3, 0, 0, 0, 0)),
        (["# Survey", "", *GOOD], (3, 0, 0, 0, 0)),  # headings and blank lines are about no file
        ([], (0, 0, 3, 0, 0)),
        (GOOD[:2], (2, 0, 1, 0, 0)),
        ([*GOOD, GOOD[0]], (3, 0, 0, 1, 0)),  # written twice, but right
        ([*GOOD, "- a.md: other"], (2, 1, 0, 1, 0)),  # one of its two lines is wrong
        (["- a.md: forgotten", *GOOD[1:]], (2, 1, 0, 0, 0)),
        ([*GOOD, "- z.md: no such file"], (3, 0, 0, 0, 1)),
        ([*GOOD, "all done!"], (3, 0, 0, 0, 1)),
        (["a.md: words of a.md", *GOOD[1:]], (2, 0, 1, 0, 1)),  # not the form that was asked for
    ],
)
def test_how_lines_are_counted(workspace: Workspace, lines: list[str], counts: tuple[int, ...]) -> None:
    workspace.report.write_text("\n".join(lines), encoding="utf-8")
    result = score(workspace.report, workspace)
    assert (result.right, result.wrong, result.missing, result.doubled, result.unknown) == counts
    assert result.files == 3 == result.right + result.wrong + result.missing
    assert [len(paths) for paths in (result.right_paths, result.wrong_paths, result.missing_paths)] == list(counts[:3])


def test_no_report_is_a_report_without_lines(workspace: Workspace) -> None:
    assert score(workspace.report, workspace).missing_paths == ["a.md", "b.md", "c: d.md"]


def test_the_files_are_read_again_and_not_counted_as_reads(workspace: Workspace) -> None:
    workspace.report.write_text("\n".join(GOOD))
    (workspace.root / "a.md").write_text("changed\n")
    assert score(workspace.report, workspace).wrong_paths == ["a.md"]
    assert not workspace.reads


def test_a_file_that_cannot_be_read_is_right_when_the_report_says_so(workspace: Workspace) -> None:
    assert len(workspace.text_files()) == 3
    (workspace.root / "a.md").unlink()
    said = report_line("a.md", "could not be read (There is no file 'a.md'.)")
    workspace.report.write_text("\n".join([said, *GOOD[1:]]))
    assert score(workspace.report, workspace).right == 3
