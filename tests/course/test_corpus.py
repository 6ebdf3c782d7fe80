"""The corpus of the demo: what its files promise, and that the same numbers give the same bytes."""

import hashlib
from pathlib import Path

import pytest

from course.corpus import make_corpus
from course.pages import PAGE_BYTES


def texts(folder: Path) -> dict[str, str]:
    """The text of every file below a folder, by path."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes().decode() for path in files}


def test_every_file_has_one_fact_of_its_own(tmp_path: Path) -> None:
    make_corpus(tmp_path)
    corpus = texts(tmp_path)
    facts = {path: [line for line in text.split("\n") if line.startswith("Fact: ")] for path, text in corpus.items()}
    assert len(corpus) == 40
    assert {len(lines) for lines in facts.values()} == {1}
    assert len({lines[0] for lines in facts.values()}) == 40
    assert all(len(lines[0]) <= 100 for lines in facts.values()), "a fact that is cut is hard to check by eye"
    places = {text[: text.index("Fact: ")].count("\n\n") for text in corpus.values()}
    assert len(places) > 4, "the fact has to stand at varying places, or pruning heads and tails would never lose it"


def test_sizes_and_names(tmp_path: Path) -> None:
    make_corpus(tmp_path, files=300, seed=3)
    corpus = texts(tmp_path)
    assert len(corpus) == 300
    assert all(1_500 <= len(text) <= 2_600 for text in corpus.values())
    assert all(50 <= len(path) <= 60 for path in corpus)
    assert len({Path(path).parent for path in corpus}) > 3
    assert max(len(text.encode()) for text in corpus.values()) <= PAGE_BYTES, "the fact has to be on the first page"


def test_the_prose_varies(tmp_path: Path) -> None:
    make_corpus(tmp_path, files=20)
    sentences = [part for text in texts(tmp_path).values() for part in text.replace("\n", " ").split(". ")]
    assert len(set(sentences)) > len(sentences) * 0.8


def test_the_same_numbers_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_corpus(tmp_path / name, files=12, seed=5)
    make_corpus(tmp_path / "other", files=12, seed=6)
    assert texts(tmp_path / "one") == texts(tmp_path / "two")
    assert texts(tmp_path / "one").keys() != texts(tmp_path / "other").keys()


def test_the_default_corpus_is_the_one_that_was_published(tmp_path: Path) -> None:
    make_corpus(tmp_path)
    whole = "".join(f"{path}\0{text}\0" for path, text in texts(tmp_path).items())
    assert hashlib.sha256(whole.encode()).hexdigest()[:16] == "089bc1406ecd3c63", (
        "the demo's numbers in texts and tests rest on these bytes"
    )


def test_no_and_impossible_numbers_of_files(tmp_path: Path) -> None:
    make_corpus(tmp_path / "none", files=0)
    assert texts(tmp_path / "none") == {}
    with pytest.raises(ValueError, match="-1 files"):
        make_corpus(tmp_path, files=-1)
