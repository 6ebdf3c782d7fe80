"""The door of the box, a program of its own: closes folders, sets limits, becomes another user.

It is told what to do as JSON in its only argument and ends by becoming the judged process. Standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from typing import Any

_BIND, _REC = 4_096, 16_384
_NO_NEW_PRIVILEGES = 38


def enter(order: dict[str, Any]) -> None:
    """Become the judged process; OSError when that cannot be done as ordered."""
    if order["namespaces"]:
        for folder in order["hidden"]:
            hide(folder, order["kept"])
        mount("none", order["cwd"], "tmpfs", 0, f"size=64m,mode=700,uid={order['uid']}")
    set_limits(order["limits"])
    if order["uid"] is not None:
        os.setgroups([])
        os.setgid(order["uid"])
        os.setuid(order["uid"])
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)  # `sudo` and its like give nothing any more
    os.umask(0o077)
    os.chdir(order["cwd"])
    os.execve(order["command"][0], order["command"], order["environment"])


def set_limits(limits: dict[str, int]) -> None:
    """Set what the system can limit; a limit may not be above one that is set already."""
    import resource

    for name, value in limits.items():
        kind = getattr(resource, name, None)
        if kind is not None:
            most = resource.getrlimit(kind)[1]
            value = value if most == resource.RLIM_INFINITY else min(value, most)
            try:
                resource.setrlimit(kind, (value, value))
            except ValueError:
                if name != "RLIMIT_AS":  # macOS does not limit the address space
                    raise


def hide(folder: str, kept: list[str]) -> None:
    """Lay an empty folder over `folder`, in which only what is kept can be seen, at its old place."""
    inside = [path for path in kept if path.startswith(folder + "/") and os.path.isdir(path)]
    opened = [(path, os.open(path, os.O_RDONLY | os.O_DIRECTORY)) for path in inside]
    mount("none", folder, "tmpfs", 0, "size=16m,mode=755")
    for path, descriptor in opened:
        os.makedirs(path, exist_ok=True)
        mount(f"/proc/self/fd/{descriptor}", path, "", _BIND | _REC, "")
        os.close(descriptor)


def mount(source: str, target: str, kind: str, flags: int, data: str) -> None:
    """Mount; OSError when the system refuses."""
    library = ctypes.CDLL(None, use_errno=True)
    texts = [os.fsencode(text) for text in (source, target, kind)]
    if library.mount(*texts, ctypes.c_ulong(flags), os.fsencode(data)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), target)


if __name__ == "__main__":
    enter(json.loads(sys.argv[1]))
