"""One key from the terminal, without Enter where the system allows it."""

from __future__ import annotations

import sys


def read_key() -> str:
    """The key pressed, as one character; "q" when the input has ended. Ctrl-C raises KeyboardInterrupt."""
    return (_raw_key() if sys.stdin.isatty() else sys.stdin.readline()[:1]) or "q"


def _raw_key() -> str:
    """One character from a terminal."""
    try:
        import termios
        import tty
    except ImportError:
        return _windows_key()
    settings = termios.tcgetattr(sys.stdin)
    try:
        tty.setcbreak(sys.stdin, termios.TCSANOW)  # not FLUSH, which would lose a key pressed a moment too early
        return sys.stdin.read(1)
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, settings)


def _windows_key() -> str:
    """One character from a Windows console."""
    import msvcrt  # type: ignore[import-not-found,unused-ignore]

    return str(msvcrt.getwch())  # type: ignore[attr-defined,unused-ignore]
