"""What a judged process may use, and what this machine can enforce, in plain sentences."""

from __future__ import annotations

import functools
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

LIMITS = {  # the names of the module `resource`
    "RLIMIT_AS": 1_536 * 1024**2,  # bytes of address space
    "RLIMIT_CPU": 90,  # seconds of one process
    "RLIMIT_FSIZE": 16 * 1024**2,  # bytes of one file
    "RLIMIT_NPROC": 96,  # processes and threads of the user
    "RLIMIT_NOFILE": 256,
    "RLIMIT_CORE": 0,
}
HIDDEN = ("/root", "/home", "/tmp", "/var/tmp", "/dev/shm", "/mnt", "/media", "/srv")
NAMESPACES = ("--mount", "--pid", "--fork", "--kill-child", "--net", "--ipc", "--mount-proc")
_FIRST_USER, _USERS = 61_184, 4_000  # user numbers that systems leave free for passing use


@dataclass(frozen=True)
class Powers:
    """What the box can do here."""

    limits: bool  # the module `resource`
    user: bool  # another user for each slot
    namespaces: bool  # a network, a list of processes and folders of its own


@functools.cache
def powers(root: Path) -> Powers:
    """What the box can do on this machine, tried out once."""
    if not hasattr(os, "fork") or sys.platform == "win32":
        return Powers(False, False, False)
    is_root = os.geteuid() == 0
    namespaces = is_root and _has_namespaces()
    user = is_root and (namespaces or all(is_open(Path(path)) for path in kept_paths(root)))
    return Powers(True, user, namespaces)


def _has_namespaces() -> bool:
    """Whether `unshare` is there and the system lets it work."""
    command = shutil.which("unshare")
    if command is None:
        return False
    try:
        done = subprocess.run([command, *NAMESPACES, "true"], capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def kept_paths(root: Path) -> list[str]:
    """The folders that the judged process reads: Python, its packages, and the course."""
    paths = [sys.prefix, sys.base_prefix, sys.exec_prefix, str(root), *filter(os.path.isdir, sys.path)]
    return list(
        dict.fromkeys(os.path.realpath(path) for path in [*paths, os.path.dirname(os.path.realpath(sys.executable))])
    )


def is_open(path: Path) -> bool:
    """Whether every user can read a folder."""
    modes = [each.stat().st_mode for each in (path, *path.parents)]
    return all(mode & stat.S_IXOTH for mode in modes) and bool(modes[0] & stat.S_IROTH)


def user_of(slot: int) -> int:
    """The number of the user who runs the submissions of a slot; two graders on one machine have different ones."""
    return _FIRST_USER + (os.getpid() * 4 + slot) % _USERS


def warning(able: Powers) -> str:
    """What is missing here to judge submissions whose authors nobody knows, as sentences; "" when nothing is."""
    if able.namespaces and able.user:
        return ""
    if not able.limits:
        return (
            "This system sets no limits for memory, processes and files; only the time is limited, and submissions "
            "run as you. Grade submissions that you do not trust in a container or a virtual machine."
        )
    if not able.user:
        return (
            "Submissions run as you: time, memory and files are limited, but only a hook inside Python keeps them from "
            "your files. Grade submissions that you do not trust as root in a container: there each has its own user."
        )
    return "Submissions run as another user with limits, but they see this machine's network and its open folders."
