"""The workspace: what its tools return, what they refuse, and that no result is longer than a page."""

import os
import re
import tempfile
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course.marks import parse_listing, without_page_mark
from course.pages import MIN_PAGE_BYTES, is_text, text_page
from course.workspace import ToolError, Workspace


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    """A folder with a little of everything, its report beside it."""
    root = tmp_path / "root"
    for name, content in {
        "a.md": b"# Alpha\n",
        "docs/b.md": b"beta\n",
        "docs/deep/c.txt": "gämma\n".encode(),
        "docs/empty.txt": b"",
        "docs/picture.png": b"\x89PNG\r\n\x1a\n\0\0",
        "docs/latin.txt": "gr\xfcn".encode("latin-1"),
        ".gitignore": b"*.pyc\n",
        ".git/config": b"[core]\n",
        ".venv/lib/x.py": b"x = 1\n",
        "node_modules/y/index.js": b"y\n",
        "src/__pycache__/z.txt": b"z\n",
        "my notes/d e.txt": b"delta\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return Workspace(root, tmp_path / "out" / "report.md")


def all_pages(workspace: Workspace, path: str) -> list[str]:
    """Every page of a file, each found by the mark of the one before."""
    pages = [workspace.read_file(path)]
    while match := re.search(r"read_file\(path, offset=(\d+)\) for more\]$", pages[-1]):
        pages.append(workspace.read_file(path, int(match[1])))
    return pages


def test_what_there_is_to_survey(workspace: Workspace) -> None:
    assert workspace.text_files() == [
        ".gitignore",  # a hidden file is a text like any other; hidden folders are not listed
        "a.md",
        "docs/b.md",
        "docs/deep/c.txt",
        "docs/empty.txt",
        "my notes/d e.txt",
    ]
    assert workspace.skipped == [("docs/latin.txt", "not text"), ("docs/picture.png", "not text")]
    assert workspace.files_under("docs/deep") == ["docs/deep/c.txt"]
    assert workspace.files_under("./docs/") == ["docs/b.md", "docs/deep/c.txt", "docs/empty.txt"]


def test_a_listing_names_folder_and_number(workspace: Workspace) -> None:
    assert workspace.list_files("docs").split("\n") == [
        "3 text files under docs (2 others left out)",
        "docs/b.md",
        "docs/deep/c.txt",
        "docs/empty.txt",
    ]
    assert workspace.list_files("src") == "0 text files under src"


def test_reading_counts_first_pages_only(workspace: Workspace) -> None:
    assert workspace.read_file("./a.md") == "# Alpha\n"
    assert workspace.read_file("docs/empty.txt") == "(empty file)"
    assert workspace.read_file("a.md", 2) == "Alpha\n"
    assert "\ufffd" in workspace.read_file("docs/latin.txt")
    assert "\0" not in workspace.read_file("docs/picture.png")
    assert workspace.reads["a.md"] == 1


@pytest.mark.parametrize(
    ("path", "because"),
    [
        ("../out/report.md", "refused"),
        ("docs/../../out", "refused"),
        ("docs/../a.md", "refused"),  # harmless, but the rule is simple: no ".."
        ("/etc/passwd", "refused"),
        (".git/config", "refused"),
        ("docs/../.git/config", "refused"),
        (".", "is a folder"),
        ("docs", "is a folder"),
        ("nothing.md", "There is no file 'nothing.md'."),
        ("a.md/b", "cannot be read"),
        ("a\0b", "NUL"),
        ("\ud800", "names nothing that can be read"),
        ("x" * 5_000, "cannot be read"),
    ],
)
def test_paths_that_are_refused(workspace: Workspace, path: str, because: str) -> None:
    with pytest.raises(ToolError, match=re.escape(because)) as caught:
        workspace.read_file(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300
    assert not workspace.reads


@pytest.mark.parametrize("path", ["nope", "a.md", "..", "/", ".git", "node_modules"])
def test_folders_that_cannot_be_listed(workspace: Workspace, path: str) -> None:
    with pytest.raises(ToolError):
        workspace.list_files(path)


@pytest.mark.parametrize("offset", [-1, "many", [1], 8, 9_999])
def test_offsets_that_are_refused(workspace: Workspace, offset: object) -> None:
    with pytest.raises(ToolError):
        workspace.read_file("a.md", offset)  # type: ignore[arg-type]
    with pytest.raises(ToolError):
        workspace.list_files(".", offset)  # type: ignore[arg-type]


def test_offsets_as_models_write_them(workspace: Workspace) -> None:
    assert workspace.read_file("a.md", "2") == "Alpha\n"  # type: ignore[arg-type]
    assert workspace.read_file("a.md", None) == "# Alpha\n"  # type: ignore[arg-type]


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_do_not_lead_out(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    (workspace.root / "leak.txt").symlink_to(tmp_path / "secret.txt")
    (workspace.root / "up").symlink_to(tmp_path)
    (workspace.root / "inside.md").symlink_to(workspace.root / "a.md")
    (workspace.root / "broken.md").symlink_to(workspace.root / "gone")
    (workspace.root / "round.md").symlink_to(workspace.root / "round.md")
    (workspace.root / "config").symlink_to(workspace.root / ".git" / "config")
    for path in ("leak.txt", "up/secret.txt", "up", "round.md", "broken.md", "config"):
        with pytest.raises(ToolError):
            workspace.read_file(path)
    assert workspace.read_file("inside.md") == "# Alpha\n"
    assert "inside.md" in workspace.text_files()
    left_out = {"leak.txt", "broken.md", "round.md", "config"}
    assert {(path, "cannot be read") for path in left_out} <= set(workspace.skipped)


@pytest.mark.skipif(os.name == "nt", reason="no such names, no pipes")
def test_what_is_no_file_and_what_has_no_name(workspace: Workspace) -> None:
    os.mkfifo(workspace.root / "pipe")
    for name in ("two\nlines.txt", " lead.txt", "double  space.txt"):
        (workspace.root / name).write_text("x")
    deep = workspace.root / "/".join(["d" * 60] * 4)
    deep.mkdir(parents=True)
    (deep / "e.txt").write_text("x")
    assert dict(workspace.skipped).items() >= {
        ("pipe", "not text"),
        ("two\nlines.txt", "name cannot be shown"),
        (" lead.txt", "name cannot be shown"),
        ("double  space.txt", "name cannot be shown"),
        ((deep / "e.txt").relative_to(workspace.root).as_posix(), "name is too long"),
    }
    with pytest.raises(ToolError, match="no regular file"):
        workspace.read_file("pipe")


def test_a_root_that_is_missing_is_said(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "gone", tmp_path / "report.md")
    assert workspace.text_files() == []
    with pytest.raises(ToolError, match="no folder"):
        workspace.list_files()


def test_listings_come_in_pages(tmp_path: Path) -> None:
    for number in range(105):
        (tmp_path / f"file-{number:03}.txt").write_text("x")
    workspace = Workspace(tmp_path, tmp_path / "report.md")
    page = workspace.list_files()
    assert page.startswith("105 text files under .\nfile-000.txt\n")
    assert page.endswith("\n[40 of 105 files shown: list_files(path, offset=40) for more]")
    files, offset = [], 0
    while True:
        listing = parse_listing(workspace.list_files(".", offset), offset)
        files += listing.files
        assert listing.total == 105
        if listing.next_offset is None:
            break
        offset = listing.next_offset
    assert files == workspace.text_files()


def test_the_report_is_no_part_of_the_survey(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")
    workspace = Workspace(tmp_path, tmp_path / "report.md")
    workspace.append_report("- a.txt: x")
    assert workspace.text_files() == ["a.txt"]
    assert workspace.skipped == []


def test_every_line_is_on_disk_at_once(workspace: Workspace) -> None:
    assert workspace.append_report("- a.md: Alpha") == "Line 1 written."
    assert workspace.report.read_text() == "- a.md: Alpha\n"
    workspace.append_report("- b.md: one\r\ntwo\u2028three\0\ud800")
    assert workspace.report.read_text(encoding="utf-8") == "- a.md: Alpha\n- b.md: one two three\ufffd\ufffd\n"
    for empty in ("", " \n ", None):
        with pytest.raises(ToolError):
            workspace.append_report(empty)  # type: ignore[arg-type]


def test_a_report_that_cannot_be_written_is_an_error_for_the_model(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path, tmp_path)
    with pytest.raises(ToolError, match="cannot be written"):
        workspace.append_report("- a: b")


def test_schemas_name_the_methods(workspace: Workspace) -> None:
    functions = [schema["function"] for schema in workspace.schemas()]
    assert [function["name"] for function in functions] == ["list_files", "read_file", "append_report"]
    assert all(callable(getattr(workspace, function["name"])) for function in functions)
    assert functions[1]["parameters"]["required"] == ["path"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (b"", True),
        (b"plain", True),
        (b"a\0b", False),
        ("ü".encode() * 6_000, True),
        (b"x" + "ü".encode() * 6_000, True),  # the probe's end cuts a character in two
        ("ü".encode()[:1], False),  # here the file's end does
        (b"x" * 9_000 + b"\0", True),  # only the first 8 kB decide
        ("abc".encode("utf-16"), False),
    ],
)
def test_what_is_text(tmp_path: Path, content: bytes, text: bool) -> None:
    (tmp_path / "file").write_bytes(content)
    assert is_text(tmp_path / "file") is text


# Text in every width that UTF-8 has, with line ends of all kinds.
TEXTS = st.text(st.sampled_from("ab \n\r\t,.é漢😀\u0301"), max_size=3_000)


@given(TEXTS, st.integers(MIN_PAGE_BYTES, 1_200))
@settings(deadline=None, max_examples=150)
def test_pages_rejoin_to_the_whole_text(text: str, page_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "f.txt").write_bytes(text.encode())
        workspace = Workspace(Path(folder), Path(folder, "report.md"), page_bytes)
        pages = all_pages(workspace, "f.txt")
        assert "".join(map(without_page_mark, pages)) == (text or "(empty file)")
        assert all(len(page.encode()) <= page_bytes for page in pages)
        assert workspace.reads["f.txt"] == 1


NAMES = st.text(st.sampled_from("abcé漢 .-_["), min_size=1, max_size=40)


@given(st.sets(NAMES, max_size=30), st.integers(MIN_PAGE_BYTES, 900))
@settings(deadline=None, max_examples=60)
def test_listings_stay_in_a_page_and_lose_nothing(names: set[str], page_bytes: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            if name not in (".", "..") and len(name.encode()) < 200:
                Path(folder, name).write_text("x")
        workspace = Workspace(Path(folder), Path(folder).parent / "no-report", page_bytes)
        files: list[str] = []
        while len(files) < len(workspace.text_files()) or not files:
            page = workspace.list_files(".", len(files))
            assert len(page.encode()) <= page_bytes
            files += parse_listing(page, len(files)).files
            if not files:
                break
        assert files == workspace.text_files()
        assert {path for path, _ in workspace.skipped} | set(files) == set(os.listdir(folder))


def test_a_large_file_is_never_in_memory(tmp_path: Path) -> None:
    with (tmp_path / "big.txt").open("wb") as stream:
        for _ in range(32):
            stream.write(b"all work and no play\n" * 50_000)
    tracemalloc.start()
    page = text_page(tmp_path / "big.txt", 30_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert page.endswith("of 33,600,000: read_file(path, offset=30002973) for more]")
    assert peak < 8_000_000


def test_a_listing_whose_middle_was_cut_out_goes_on_before_the_cut() -> None:
    names = [f"docs/file-{number}.md" for number in range(40)]
    mark = "[... 1,204 characters in all, the middle left out ...]"
    tail = "[40 of 90 files shown: list_files(path, offset=40) for more]"
    on_its_own = "\n".join(["90 text files under docs", *names[:5], "docs/fi", mark, "30.md", *names[31:], tail])
    inside = "\n".join(["90 text files under docs", *names[:5], f"docs/fi{mark}30.md", *names[31:], tail])
    for text in (on_its_own, inside):
        listing = parse_listing(text)
        assert (listing.files, listing.total, listing.next_offset) == (tuple(names[:5]), 90, 5)
