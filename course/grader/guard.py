"""The guard: an audit hook that lets the judged process write only into its scratch folder, and start nothing.

Python calls the hook before it opens a file, starts a process, connects or loads a library. It cannot be taken away
again, but a program that gets hold of raw memory can go around it: the box is the wall, this is the sentence.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

_NEVER = {
    "ctypes.dlopen": "loads a library by hand",
    "gc.get_objects": "searches the memory",
    "gc.get_referents": "searches the memory",
    "gc.get_referrers": "searches the memory",
    "os.exec": "starts a program",
    "os.fork": "starts a process",
    "os.forkpty": "starts a process",
    "os.kill": "sends a signal",
    "os.killpg": "sends a signal",
    "os.posix_spawn": "starts a program",
    "os.spawn": "starts a program",
    "os.startfile": "starts a program",
    "os.system": "starts a program",
    "pty.spawn": "starts a program",
    "socket.bind": "opens the network",
    "socket.connect": "opens the network",
    "socket.getaddrinfo": "asks the network",
    "socket.sendto": "opens the network",
    "subprocess.Popen": "starts a program",
}
_CHANGES = {  # event: the positions of (a path, the open folder that it is relative to) among its details
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.link": ((0, 2), (1, 3)),
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rename": ((0, 2), (1, 3)),
    "os.rmdir": ((0, 1),),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, 9),),
    "os.utime": ((0, 3),),
    "sqlite3.connect": ((0, 9),),
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ONLY = "The grader lets code change its own scratch folder only."


def set_guard(scratch: str) -> None:
    """From now on only what lies in `scratch` can be changed, and no process, signal or connection is made."""
    inside, never, changes = _make_inside(os.path.realpath(scratch)), dict(_NEVER), dict(_CHANGES)
    free = (os.devnull, os.devnull.encode(), ":memory:")

    def hook(event: str, details: tuple[Any, ...]) -> None:
        if event == "open":
            path, mode, flags = details
            writes = bool(flags & _WRITES) if isinstance(flags, int) else "r" not in str(mode)
            if writes and path not in free and not inside(path, -1):
                raise PermissionError(_ONLY)
        elif event in changes:
            for place, folder in changes[event]:
                around = details[folder] if folder < len(details) else -1
                if details[place] not in free and not inside(details[place], around):
                    raise PermissionError(_ONLY)
        elif event in never:
            raise PermissionError(f"The grader does not allow this: it {never[event]} ({event}).")

    sys.addaudithook(hook)


def _make_inside(scratch: str) -> Callable[[Any, int], bool]:
    """A function: whether a path, its links followed, lies in `scratch`; it may be relative to an open folder."""
    real, decode, join, separator, read_link = os.path.realpath, os.fsdecode, os.path.join, os.sep, os.readlink

    def inside(path: Any, folder: int) -> bool:
        if isinstance(path, int):
            return True  # a file that is open already
        name = decode(path).removeprefix("file:")
        if folder is not None and folder >= 0:
            try:
                name = join(read_link(f"/proc/self/fd/{folder}"), name)
            except OSError:
                return False
        place = real(name)
        return place == scratch or place.startswith(scratch + separator)

    return inside
