"""The notebooks: executed in a clean kernel, brought to one normal form, compared with what is committed.

    python -m course.notebooks [FILES]            execute and write
    python -m course.notebooks --check [FILES]    execute and compare; say what differs
    python -m course.notebooks --solved [FILES]   execute with every exercise solved; say what is not done

Without FILES it is every notebook of the course but those that need a real endpoint.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
REFERENCE = FOLDER.parent / "reference"
NOT_EXECUTED = ("live_demo",)
TIMEOUT = 120  # seconds a cell may take
KERNEL = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
LANGUAGE = {"name": "python", "file_extension": ".py", "mimetype": "text/x-python"}
# What would be another text on another machine, or where a learner has solved something.
QUIET = {"PYTHONDONTWRITEBYTECODE": "1", "NO_COLOR": "1", "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore"}

_ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
_DONE = re.compile(r"^\d+\.\d+\s+done\b")
_TEXTS = ("text/plain", "text/html", "text/markdown", "image/svg+xml", "application/json")


def find_notebooks(folder: Path = FOLDER) -> list[Path]:
    """The notebooks of the course that run without a key, in order."""
    return [path for path in sorted(folder.glob("*.ipynb")) if path.stem not in NOT_EXECUTED]


def execute(path: Path, *, chapters: Path | None = None) -> Any:
    """The notebook of a file, executed in a new kernel in the file's folder, in normal form; the file is not changed.

    `chapters` is a folder of learner's files to run it with; without it the stubs as shipped are used, whatever stands
    in chapters/. An error in a cell that is not tagged `raises-exception` raises nbclient's CellExecutionError.
    """
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory(prefix="course-notebook-") as scratch:
        _run(notebook, path.parent, chapters or _shipped(Path(scratch)), Path(scratch))
    return normalize(notebook)


def _run(notebook: Any, folder: Path, chapters: Path, scratch: Path) -> None:
    """Execute a notebook in place, in a kernel that sees the given chapters and is gone afterwards."""
    from nbclient import NotebookClient
    from traitlets.config import Config

    # Sockets in a folder of their own: two kernels that start at once may choose one and the same port.
    own = {} if os.name == "nt" else {"transport": "ipc", "connection_file": str(scratch / "kernel.json")}
    client = NotebookClient(
        notebook,
        config=Config({"KernelManager": own}),
        kernel_name="python3",
        timeout=TIMEOUT,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env={**os.environ, **QUIET, "COURSE_CHAPTERS": str(chapters)})


def _shipped(scratch: Path) -> Path:
    """A folder of stubs in which nobody has written."""
    from course.stubs import make_stubs

    return _filled(scratch, {name: text.encode() for name, text in make_stubs(REFERENCE).items()})


def _solved(scratch: Path) -> Path:
    """A folder in which every exercise is solved, as the reference solves it."""
    return _filled(scratch, {path.name: path.read_bytes() for path in REFERENCE.glob("ch[0-9][0-9]_*.py")})


def _filled(scratch: Path, files: Mapping[str, bytes]) -> Path:
    """A folder `chapters` with these files."""
    chapters = scratch / "chapters"
    chapters.mkdir()
    for name, content in files.items():
        (chapters / name).write_bytes(content)
    return chapters


def normalize(notebook: Any) -> Any:
    """The notebook with nothing in it that changes from run to run or from machine to machine; a new object.

    Cell ids are the cells' numbers, execution counts run from 1 without gaps, cells and notebook keep no metadata but
    tags and the kernel's name, and texts have no ANSI codes and LF only. Neighbouring pieces of one stream are one.
    """
    import nbformat

    cells = [_cell(number, cell) for number, cell in enumerate(notebook.cells)]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    for count, cell in enumerate(code, start=1):
        ran = cell["execution_count"] is not None
        cell["execution_count"] = count if ran else None
        for output in cell["outputs"]:
            if output["output_type"] == "execute_result":
                output["execution_count"] = count
    metadata = {"kernelspec": KERNEL, "language_info": LANGUAGE}
    return nbformat.from_dict({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def _cell(number: int, cell: Any) -> dict[str, Any]:
    """One cell in normal form."""
    tags = cell.get("metadata", {}).get("tags")
    normal: dict[str, Any] = {
        "cell_type": cell["cell_type"],
        "id": f"cell-{number:02}",
        "metadata": {"tags": sorted(tags)} if tags else {},
        "source": _clean(cell["source"]).rstrip("\n"),
    }
    if cell["cell_type"] == "code":
        normal |= {"execution_count": cell.get("execution_count"), "outputs": list(_outputs(cell.get("outputs", ())))}
    return normal


def _outputs(outputs: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """A cell's outputs in normal form."""
    joined: list[dict[str, Any]] = []
    for output in outputs:
        kind = output["output_type"]
        if kind == "stream" and joined and joined[-1].get("name") == output["name"]:
            joined[-1]["text"] += output["text"]
            continue
        joined.append(dict(output) | ({"text": output["text"]} if kind == "stream" else {}))
    for output in joined:
        yield _output(output)


def _output(output: dict[str, Any]) -> dict[str, Any]:
    """One output in normal form: texts cleaned, widgets and display metadata left out."""
    kind = output["output_type"]
    if kind == "stream":
        return {"output_type": kind, "name": output["name"], "text": _clean(output["text"])}
    if kind == "error":
        trace = [_clean(line) for line in output["traceback"]]
        return {"output_type": kind, "ename": output["ename"], "evalue": _clean(output["evalue"]), "traceback": trace}
    data = {
        name: _clean(value) if name in _TEXTS and isinstance(value, str) else value
        for name, value in sorted(output["data"].items())
        if "widget" not in name
    }
    count = {"execution_count": None} if kind == "execute_result" else {}
    return {"output_type": kind, "data": data, "metadata": {}, **count}


def _clean(text: str) -> str:
    """A text without ANSI codes, and with LF only."""
    return _ANSI.sub("", text).replace("\r\n", "\n").replace("\r", "\n")


def to_text(notebook: Any) -> str:
    """The notebook as the text of its file."""
    import nbformat

    text: str = nbformat.writes(notebook)
    return text.rstrip("\n") + "\n"


def write(path: Path) -> None:
    """Execute a notebook and write it in normal form; the file is replaced as a whole."""
    text = to_text(execute(path))
    scratch = path.with_name(path.name + ".part")
    scratch.write_bytes(text.encode())
    scratch.replace(path)


def check(path: Path, *, chapters: Path | None = None) -> list[str]:
    """What is not as it should be with a committed notebook, one text for each cell; [] when all is current.

    Its form, and the texts of its outputs against those of a fresh run. Pictures are not compared.
    """
    return form_problems(path) + differences(_read(path), execute(path, chapters=chapters))


def check_solved(path: Path) -> list[str]:
    """The cells with a `check(...)` that is not done although every exercise is solved; [] when all are."""
    with tempfile.TemporaryDirectory(prefix="course-notebook-") as scratch:
        notebook = execute(path, chapters=_solved(Path(scratch)))
    cells = [cell for cell in notebook.cells if cell["source"].startswith("check(")]
    return [f"{cell['source']}: {output_text(cell)}" for cell in cells if not _DONE.search(output_text(cell))]


def form_problems(path: Path) -> list[str]:
    """Why a file is not in normal form, [] when it is."""
    if path.read_bytes().decode() == to_text(normalize(_read(path))):
        return []
    return [f"{path.name} is not in normal form: run `python -m course.notebooks {path.name}`"]


def differences(committed: Any, fresh: Any) -> list[str]:
    """The cells whose output texts differ, each with its lines as a diff."""
    found = []
    for old, new in zip(committed.cells, fresh.cells, strict=True):
        before, after = output_text(old), output_text(new)
        if before != after:
            lines = difflib.unified_diff(before.split("\n"), after.split("\n"), "committed", "fresh", n=1, lineterm="")
            found.append("\n".join([f"{old['id']}: {old['source'].splitlines()[0][:60]}", *lines]))
    return found


def output_text(cell: Any) -> str:
    """The text of a cell's outputs; a picture counts as there or not."""
    return "\n".join(_text_of(output) for output in cell.get("outputs", ()))


def _text_of(output: Any) -> str:
    """The text of one output: what was printed, what a value's plain form is, what was raised."""
    kind = output["output_type"]
    if kind == "stream":
        return str(output["text"])
    if kind == "error":
        return f"{output['ename']}: {output['evalue']}"
    pictures = [name for name in output["data"] if name.startswith("image/")]
    return "\n".join([str(output["data"].get("text/plain", "")), *pictures])


def _read(path: Path) -> Any:
    import nbformat

    return nbformat.read(path, as_version=4)


def _named(names: Sequence[str]) -> list[Path]:
    """The notebooks that were named: by path, by file name, or by stem; all when nothing was named."""
    if not names:
        return find_notebooks()
    places = [[Path(name), FOLDER / name, FOLDER / f"{name}.ipynb"] for name in names]
    return [next((place for place in tried if place.is_file()), tried[0]) for tried in places]


def _written(path: Path) -> list[str]:
    """No problems, once the notebook is written."""
    write(path)
    return []


def run(names: Sequence[str] = (), how: str = "written") -> int:
    """The number of notebooks with problems, each printed; `how` is "written", "current" or "solved"."""
    from nbclient.exceptions import CellExecutionError

    bad = 0
    for path in _named(names):
        try:
            problems = {"written": _written, "current": check, "solved": check_solved}[how](path)
        except FileNotFoundError:
            problems = [f"there is no notebook {path.name}"]
        except CellExecutionError as error:
            problems = [_clean(str(error))]
        bad += bool(problems)
        print("\n".join([f"{path.name}: {'NOT ' * bool(problems)}{how}", *problems]), flush=True)
    return bad


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code: 0 when every notebook is current, or was written."""
    parser = argparse.ArgumentParser(
        prog="course notebooks", description="Execute the notebooks; write or compare them."
    )
    parser.add_argument("files", nargs="*", help="paths, names or stems; all without them")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when an output differs")
    parser.add_argument("--solved", action="store_true", help="write nothing; run with every exercise solved")
    given = parser.parse_args(arguments)
    return min(1, run(given.files, "current" if given.check else "solved" if given.solved else "written"))


if __name__ == "__main__":
    sys.exit(main())
