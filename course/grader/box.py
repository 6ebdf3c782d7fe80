"""The box: one process at a time with a folder, a user, limits and an environment of its own; nothing of it stays."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from course.grader.channel import Event
from course.grader.ended import Ended, read_events, read_stack
from course.grader.limits import HIDDEN, LIMITS, NAMESPACES, Powers, kept_paths, user_of

MARK = "COURSE_GRADER_RUN"
_DOOR = Path(__file__).with_name("enter.py")


class Box:
    """A scratch folder with a submission's chapters, and the processes that are run on them."""

    def __init__(
        self,
        root: Path,
        folder: Path,
        able: Powers,
        slot: int,
        cache: Path | None = None,
        stop: threading.Event | None = None,
    ) -> None:
        self.root, self.folder, self.able = root, folder, able
        self.cache = (
            cache  # compiled files of the course and of Python, which the judged process reads and cannot change
        )
        self.uid = user_of(slot) if able.user else None
        self.stop = stop or threading.Event()
        self.mark = secrets.token_hex(16)
        self.chapters, self.work, self.notes = folder / "chapters", folder / "work", folder / "notes"
        for place in (self.chapters, self.work, self.notes):
            place.mkdir()
            place.chmod(0o755)
        folder.chmod(0o711)
        if self.uid is not None:
            os.chown(self.work, self.uid, self.uid)
            self.work.chmod(0o700)

    def put(self, name: str, data: bytes) -> None:
        """Lay a file into the chapters, where the judged process can read it and not change it."""
        path = self.chapters / name
        path.write_bytes(data)
        path.chmod(0o644)

    @property
    def fresh_cache(self) -> Path:
        """Where compiled files are written when the course's own code, and nothing else, is run in this box."""
        return self.folder / "cache"

    def warm(self) -> None:
        """Let the next process write compiled files."""
        self.cache = self.fresh_cache
        self.cache.mkdir()
        if self.uid is not None:
            os.chown(self.cache, self.uid, self.uid)

    def give_cache(self, place: Path) -> None:
        """Move the compiled files to `place`, where everybody can read them and only the grader can write."""
        os.replace(self.fresh_cache, place)
        for folder, _, names in os.walk(place):
            for path, mode in ((folder, 0o755), *((os.path.join(folder, name), 0o644) for name in names)):
                if self.uid is not None:
                    os.chown(path, 0, 0)
                os.chmod(path, mode)

    def run(self, arguments: list[str], orders: dict[str, object], seconds: float) -> Ended:
        """What came of pytest with these arguments and the grader's plugin, after at most so many seconds."""
        key, stack = secrets.token_bytes(32), self._empty_file("events.stack")
        self._empty_file("events")
        command = [os.path.abspath(sys.executable), "-P", "-s", "-m", "pytest", "-p", "course.grader.inside"]
        command += ["--rootdir", str(self.root), "-c", str(self.root / "pyproject.toml")]
        command += ["--basetemp", str(self.work / "tmp"), *arguments]
        told = json.dumps(
            {"key": key.hex(), "scratch": str(self.folder if self.cache == self.fresh_cache else self.work), **orders}
        )
        events, how = self.talk(self.entered(command), told.encode() + b"\n", key, seconds)
        text = read_stack(stack)
        if how == "exit" and text:
            how = "time"
        return Ended(events, how, text)

    def talk(self, command: list[str], told: bytes, key: bytes, seconds: float) -> tuple[list[Event], str]:
        """(events, how it ended) of a command that is told its orders; nothing of it runs any longer."""
        process = subprocess.Popen(
            command, cwd=self.work if self.uid is None else self.folder, env=self.environment(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        is_read, is_over = threading.Event(), threading.Event()
        watch = threading.Thread(
            target=self._watch, args=(process, is_read, is_over, time.monotonic() + seconds), daemon=True
        )
        watch.start()
        try:
            with suppress(OSError):
                process.stdin.write(told)
                process.stdin.close()
            events, how = read_events(process.stdout, key)
        finally:
            is_read.set()
            watch.join()
            self.kill(process)
            process.stdout.close()
        return events, "over" if is_over.is_set() and how == "exit" else how

    def _watch(
        self, process: subprocess.Popen[bytes], is_read: threading.Event, is_over: threading.Event, end: float
    ) -> None:
        """End the process when its time is up, or when all are told to stop."""
        while not is_read.wait(0.1):
            if time.monotonic() >= end or self.stop.is_set():
                is_over.set()
                self.kill(process)
                return

    def entered(self, command: list[str]) -> list[str]:
        """The command behind the door of the box; itself where the system has no limits."""
        if not self.able.limits:
            return command
        cache = [str(self.cache)] if self.cache else []
        order = {
            "namespaces": self.able.namespaces, "uid": self.uid, "limits": LIMITS, "command": command,
            "cwd": str(self.work), "environment": self.environment(),
            "kept": [*kept_paths(self.root), str(self.folder), *cache],
            "hidden": [path for path in HIDDEN if os.path.isdir(path) and os.path.realpath(path) == path],
        }  # fmt: skip
        if self.uid is None:  # the user's other processes and threads count as well, so a number would say nothing
            order["limits"] = {name: value for name, value in LIMITS.items() if name != "RLIMIT_NPROC"}
        door = [os.path.abspath(sys.executable), "-I", "-S", "-B", str(_DOOR), json.dumps(order)]
        return [shutil.which("unshare") or "unshare", *NAMESPACES, *door] if self.able.namespaces else door

    def environment(self) -> dict[str, str]:
        """The whole environment of the judged process: nothing of the grader's own, which may hold keys."""
        work = str(self.work)
        kept = {name: os.environ[name] for name in ("SYSTEMROOT", "SYSTEMDRIVE") if name in os.environ}
        if self.cache is not None:
            kept["PYTHONPYCACHEPREFIX"] = str(self.cache)
        if self.cache != self.fresh_cache:
            kept["PYTHONDONTWRITEBYTECODE"] = "1"
        return kept | {
            "HOME": work, "TMPDIR": work, "TEMP": work, "TMP": work, "USERPROFILE": work,
            "LANG": "C.UTF-8", "PATH": os.defpath, "PYTHONPATH": str(self.root),
            "PYTHONUTF8": "1", "PYTHONHASHSEED": "0", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", MARK: self.mark,
        }  # fmt: skip

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        """End a process and all that it started, also what left its session."""
        with suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        for _ in range(50):
            left = list(self.left_over())
            for number in left:
                with suppress(OSError):
                    os.kill(number, signal.SIGKILL)
            if not left:
                return
            time.sleep(0.02)

    def left_over(self) -> Iterator[int]:
        """The processes that still run as the box's user or with its mark in their environment."""
        numbers = [int(name) for name in os.listdir("/proc") if name.isdigit()] if os.path.isdir("/proc") else []
        for number in numbers:
            if number == os.getpid():
                continue
            try:
                owner = os.stat(f"/proc/{number}").st_uid
                marked = f"{MARK}={self.mark}".encode() in Path(f"/proc/{number}/environ").read_bytes()
                dead = Path(f"/proc/{number}/stat").read_text(errors="replace").rpartition(")")[2].split()[0] in "ZX"
            except (OSError, IndexError):
                continue
            if (owner == self.uid or marked) and not dead:
                yield number

    def _empty_file(self, name: str) -> Path:
        """An empty file in a folder where the judged process can make no others."""
        path = self.notes / name
        path.unlink(missing_ok=True)
        path.touch()
        if self.uid is not None:
            os.chown(path, self.uid, self.uid)
        return path


@contextmanager
def open_box(
    root: Path, able: Powers, slot: int, cache: Path | None = None, stop: threading.Event | None = None
) -> Iterator[Box]:
    """A box with a folder of its own, which is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="course-grade-")).resolve()
    try:
        yield Box(root, folder, able, slot, cache, stop)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
