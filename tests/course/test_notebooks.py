"""The notebooks: in normal form, and with the same texts when they are run anew from a clean state."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course.notebooks import (
    FOLDER,
    check_solved,
    differences,
    execute,
    find_notebooks,
    form_problems,
    normalize,
    to_text,
)

NOTEBOOKS = find_notebooks()


def notebook_of(*outputs, source="1 + 1"):
    """A notebook with one code cell as Jupyter may leave it: an id of chance, a count of chance, timing."""
    timing = {"execution": {"iopub.status.busy": "2024-05-05T10:00:00Z"}, "tags": ["b", "a"]}
    cell = new_code_cell(source, execution_count=17, outputs=list(outputs), metadata=timing)
    metadata = {"widgets": {"state": {}}, "kernelspec": {"name": "mine", "display_name": "mine"}}
    return new_notebook(cells=[new_markdown_cell("# Title\n"), cell], metadata=metadata)


def others_in(folder):
    """What lies beside the notebooks."""
    return sorted(path.name for path in folder.iterdir() if path.suffix not in (".ipynb", ".part"))


def test_there_are_notebooks():
    assert "00_start_here" in [path.stem for path in NOTEBOOKS]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_in_normal_form(path):
    assert form_problems(path) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_names_no_place_of_the_machine_it_ran_on(path):
    text = path.read_text(encoding="utf-8")
    assert [
        word for word in ("/tmp/", "/home/", "/root/", "127.0.0.1", "Traceback", "site-packages") if word in text
    ] == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_a_clean_state_with_the_same_texts(path):
    import nbformat

    before = others_in(FOLDER)
    fresh = execute(path)
    assert differences(nbformat.read(path, as_version=4), fresh) == [], "run `python -m course.notebooks`"
    assert others_in(FOLDER) == before, "running it has written into notebooks/"


@pytest.mark.filterwarnings("ignore")
@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in NOTEBOOKS if path.stem == "ch01_agent_loop"], ids=lambda p: p.stem)
def test_a_notebook_with_everything_solved_says_so(path):
    assert check_solved(path) == []


# The normal form


def test_what_changes_from_run_to_run_is_not_in_the_normal_form():
    normal = normalize(notebook_of(new_output("execute_result", {"text/plain": "2"}, execution_count=17)))
    title, cell = normal.cells
    assert (title["id"], title["source"], cell["id"]) == ("cell-00", "# Title", "cell-01")
    assert (cell["execution_count"], cell["outputs"][0]["execution_count"]) == (1, 1)
    assert cell["metadata"] == {"tags": ["a", "b"]}
    assert normal.metadata["kernelspec"]["name"] == "python3"
    assert "widgets" not in normal.metadata


def test_normal_form_is_a_fixed_point():
    once = normalize(notebook_of(new_output("stream", name="stdout", text="x\n")))
    assert to_text(normalize(once)) == to_text(once)


@pytest.mark.parametrize(
    ("texts", "kept"),
    [
        (["a\r\nb\r\n"], "a\nb\n"),  # LF only
        (["\x1b[31mred\x1b[0m\n"], "red\n"),  # no ANSI
        (["a\n", "b\n"], "a\nb\n"),  # pieces of one stream: where they are cut is chance
    ],
)
def test_texts_of_outputs(texts, kept):
    normal = normalize(notebook_of(*(new_output("stream", name="stdout", text=text) for text in texts)))
    assert [output["text"] for output in normal.cells[1]["outputs"]] == [kept]


def test_a_cell_that_did_not_run_has_no_count():
    raw = notebook_of()
    raw.cells[1]["execution_count"] = None
    assert normalize(raw).cells[1]["execution_count"] is None


def test_differences_show_the_lines_and_leave_pictures_alone():
    def ran(text, picture):
        return normalize(notebook_of(new_output("display_data", {"text/plain": text, "image/png": picture})))

    assert differences(ran("2", "aaaa"), ran("2", "bbbb")) == []
    [found] = differences(ran("2", "aaaa"), ran("3", "aaaa"))
    assert found.splitlines()[0] == "cell-01: 1 + 1"
    assert {"-2", "+3"} <= set(found.splitlines())
