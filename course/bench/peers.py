"""The environments of other libraries, and the running of one measurement in one of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 600  # seconds for one cell

# subject -> what must be importable in its environment
MODULES = {
    "langchain": "langchain.agents.middleware.summarization",
    "pydantic": "pydantic_ai_summarization",
    "hermes": "agent.context_compressor",
}
NAMES = {
    "floor": "floor: every length read once",
    "ours": "this course",
    "langchain": "LangChain SummarizationMiddleware",
    "pydantic": "summarization-pydantic-ai",
    "hermes": "hermes-agent",
}


@dataclass(frozen=True)
class Subject:
    """Something to measure, and the Python that has it."""

    name: str
    python: str


def find_subjects(folder: Path | None) -> tuple[list[Subject], list[str]]:
    """(the floor, ours and each peer for which the folder holds an environment, sentences about those it has not)."""
    pythons = sorted(folder.glob("*/bin/python")) if folder else []
    subjects = [Subject("floor", sys.executable), Subject("ours", sys.executable)]
    missing = []
    for name, module in MODULES.items():
        python = next((python for python in pythons if has_module(python, module)), None)
        if python:
            subjects.append(Subject(name, str(python)))
        else:
            where = f"no environment under {folder} has" if folder else "without --peers there is no environment with"
            missing.append(f"{NAMES[name]} is left out: {where} {module}.")
    return subjects, missing


def has_module(python: Path, module: str) -> bool:
    """Whether an environment can import a module; looked for without importing it, which takes seconds."""
    top = module.split(".")[0]
    path = module.replace(".", "/")
    code = (
        "import importlib.util as u, pathlib, sys; s = u.find_spec(sys.argv[1]); "
        "p = [pathlib.Path(f).parent for f in (s.submodule_search_locations or []) if s] if s else []; "
        "sys.exit(not any((q / (sys.argv[2] + '.py')).exists() or (q / sys.argv[2]).is_dir() for q in p))"
    )
    done = subprocess.run([str(python), "-I", "-c", code, top, path], capture_output=True, check=False)
    return done.returncode == 0


def run_job(subject: Subject, **job: Any) -> Any:
    """The results of one job in the subject's environment; {"error": ...} when there are none."""
    with tempfile.TemporaryDirectory() as scratch:
        out, file = Path(scratch) / "out.json", Path(scratch) / "job.json"
        file.write_text(json.dumps({"subject": subject.name, "out": str(out), **job}), encoding="utf-8")
        environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0"}
        command = [subject.python, "-m", "course.bench.worker", str(file)]
        try:
            done = subprocess.run(
                command, env=environment, cwd=scratch, capture_output=True, text=True, timeout=TIMEOUT, check=False
            )
        except subprocess.TimeoutExpired:
            return {"error": f"no result after {TIMEOUT} s"}
        if done.returncode:
            return {"error": (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]}
        return json.loads(out.read_text(encoding="utf-8"))
