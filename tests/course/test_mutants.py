"""Each guard of chapters 5 to 12 is taken away in a copy of the reference; a named test must notice."""

from __future__ import annotations

import json
import os
import queue
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.course.mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[2]
AT_A_TIME = 2
# One process has imported all but the reference, and is forked for each run: the imports take longer than the tests.
# The copy is imported before pytest begins, so that nothing can bring in the real one.
WORKER = """
import json, os, signal, sys
sys.path.insert(0, sys.argv[1])
import hypothesis, hypothesis.strategies, openai, openai.resources.chat, pytest, starlette, uvicorn
import course.checker.bench, course.checker.project, course.provider
early = [name for name in sys.modules if name.split(".")[0] in ("reference", "tests")]
assert not early, early
for line in sys.stdin:
    folder, tests = json.loads(line)
    child = os.fork()
    if child == 0:
        signal.alarm(300)
        log = os.open(os.path.join(folder, "log"), os.O_WRONLY | os.O_CREAT)
        os.dup2(log, 1), os.dup2(log, 2)
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = os.path.join(folder, "examples")
        sys.path.insert(0, folder)
        code = 99  # whatever comes before the first test is no verdict of a test
        try:
            import reference
            assert reference.__file__.startswith(folder), reference.__file__
            ignored = "ignore::pytest.PytestAssertRewriteWarning"  # plugins are imported already
            code = pytest.main(["-x", "-q", "--no-header", "-p", "no:cacheprovider", "-W", ignored, *tests])
        finally:
            sys.stdout.flush()
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
FAILED, PASSED = 1, 0  # pytest's exit codes; anything else is an error of the run, not of a test

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process")


class Worker:
    """A process that runs tests on copies of the reference."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", WORKER, str(ROOT)]
        environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True)

    def run(self, folder: Path, *tests: str) -> tuple[int, str]:
        """(pytest's exit code, its output) for the tests, run on the copy of the reference in `folder`."""
        print(json.dumps([str(folder), tests]), file=self.process.stdin, flush=True)
        code = int(self.process.stdout.readline())
        return code, (folder / "log").read_text(encoding="utf-8", errors="replace")

    def close(self) -> None:
        """End the process."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def workers() -> Iterator[queue.SimpleQueue[Worker]]:
    """As many workers as runs at a time."""
    made = [Worker() for _ in range(AT_A_TIME)]
    free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    for worker in made:
        free.put(worker)
    yield free
    for worker in made:
        worker.close()


def copied(folder: Path) -> Path:
    """The file tree of the reference, copied into the folder."""
    shutil.copytree(ROOT / "reference", folder / "reference", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def killed(mutant: Mutant, folder: Path, workers: queue.SimpleQueue[Worker]) -> tuple[int, str]:
    """The run of a mutant's tests."""
    file = copied(folder) / "reference" / f"{mutant.file}.py"
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    worker = workers.get()
    try:
        return worker.run(folder, *mutant.tests.split())
    finally:
        workers.put(worker)


@pytest.fixture(scope="module")
def runs(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, workers: queue.SimpleQueue[Worker]
) -> dict[str, Future]:
    """The runs of the mutants that were asked for, two at a time."""
    wanted = {item.callspec.params["mutant"].guard for item in request.session.items if hasattr(item, "callspec") and "mutant" in item.callspec.params}  # fmt: skip
    folder = tmp_path_factory.mktemp("mutants")
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return {
            mutant.guard: pool.submit(killed, mutant, folder / str(number), workers)
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
def test_an_unchanged_copy_passes(tmp_path, workers):
    tests = sorted({test for mutant in MUTANTS for test in mutant.tests.split()})
    worker = workers.get()
    code, output = worker.run(copied(tmp_path), *tests)
    workers.put(worker)
    assert code == PASSED, output[-2_000:]


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.guard for mutant in MUTANTS])
def test_a_named_test_notices(mutant, runs):
    code, output = runs[mutant.guard].result()
    assert code != PASSED, f"nobody notices when this is gone: {mutant.guard} ({mutant.file}, {mutant.tests})"
    assert code == FAILED, output[-2_000:]
