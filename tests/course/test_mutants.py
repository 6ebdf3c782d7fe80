"""Each guard of chapters 5 to 12 is taken away in a copy of the reference; a named test must notice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.course.mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
AT_A_TIME = 2
# The copy is imported before pytest begins, so that nothing can bring in the real one.
RUN = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
import reference
assert reference.__file__.startswith(sys.argv[1]), reference.__file__
import pytest
sys.exit(pytest.main(["-x", "-q", "--no-header", "-p", "no:cacheprovider", *sys.argv[3:]]))
"""
FAILED, PASSED = 1, 0  # pytest's exit codes; anything else is an error of the run, not of a test


def run_tests(folder: Path, *tests: str) -> subprocess.CompletedProcess[str]:
    """The tests, run on the copy of the reference in `folder`."""
    environment = os.environ | {
        "HYPOTHESIS_STORAGE_DIRECTORY": str(folder / "examples"),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-c", RUN, str(folder), str(ROOT), *tests]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=300)


def copied(folder: Path) -> Path:
    """The file tree of the reference, copied into the folder."""
    shutil.copytree(ROOT / "reference", folder / "reference", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def killed(mutant: Mutant, folder: Path) -> subprocess.CompletedProcess[str]:
    """The run of a mutant's tests."""
    file = copied(folder) / "reference" / f"{mutant.file}.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    return run_tests(folder, *mutant.tests.split())


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Future]:
    """The runs of the mutants that were asked for, two at a time."""
    wanted = {item.callspec.params["mutant"].guard for item in request.session.items if hasattr(item, "callspec") and "mutant" in item.callspec.params}  # fmt: skip
    folder = tmp_path_factory.mktemp("mutants")
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return {
            mutant.guard: pool.submit(killed, mutant, folder / str(number))
            for number, mutant in enumerate(MUTANTS)
            if mutant.guard in wanted
        }


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.guard for mutant in MUTANTS])
def test_the_text_to_be_changed_stands_there_once(mutant):
    text = (ROOT / "reference" / f"{mutant.file}.py").read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, (
        f"{mutant.file}: {mutant.old!r} stands there {text.count(mutant.old)} times: bring tests/course/mutants.py up to date"
    )
    assert mutant.old != mutant.new


def test_there_are_enough_and_each_guard_has_a_name_of_its_own():
    assert len(MUTANTS) >= 40
    assert len({mutant.guard for mutant in MUTANTS}) == len(MUTANTS)
    assert {mutant.file[:4] for mutant in MUTANTS} == {"mess", "pair", *(f"ch{number:02d}" for number in range(5, 13))}


@pytest.mark.slow
def test_an_unchanged_copy_passes(tmp_path):
    tests = sorted({test for mutant in MUTANTS for test in mutant.tests.split()})
    done = run_tests(copied(tmp_path), *tests)
    assert done.returncode == PASSED, done.stdout[-2_000:] + done.stderr[-2_000:]


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.guard for mutant in MUTANTS])
def test_a_named_test_notices(mutant, runs):
    done = runs[mutant.guard].result()
    assert done.returncode != PASSED, (
        f"nobody notices when this is gone: {mutant.guard} ({mutant.file}, {mutant.tests})"
    )
    assert done.returncode == FAILED, done.stdout[-2_000:] + done.stderr[-2_000:]
