"""The live picture and `--step` on a real pseudo-terminal."""

from __future__ import annotations

import os
import re
import select
import signal
import struct
import sys

import pytest

from tests.course.test_demo import NO_KEY, course

pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
COLUMNS, LINES = 110, 45


def play(arguments, keys, folder):
    """(exit code, what came out as text without escapes) of a command on a terminal; a key is pressed at each hint."""
    import fcntl
    import termios

    process, terminal = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe(sys.executable, [sys.executable, "-m", "course", *arguments], NO_KEY | {"TERM": "xterm"})
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", LINES, COLUMNS, 0, 0))
    output, pressed = b"", 0
    while select.select([terminal], [], [], 20)[0]:
        try:
            output += os.read(terminal, 65_536)
        except OSError:  # the other end was closed
            break
        if pressed < len(keys) and output.count(b"q: quit") > pressed:
            os.write(terminal, keys[pressed].encode())
            pressed += 1
    if pressed < len(keys):
        os.kill(process, signal.SIGKILL)  # it waits for a key that it has not asked for
    code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    os.close(terminal)
    return code, re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", output.decode("utf-8", "replace"))


def test_step_waits_for_a_key_and_q_ends_cleanly(tmp_path):
    code, shown = play(["demo", "--step"], "nnnnq", tmp_path)
    assert code == 1
    assert "context window" in shown
    assert "any key: on   space: on without waiting   q: quit" in shown
    assert "call    3" in shown
    assert "call   30" not in shown
    assert "Interrupted. The report written so far is kept" in shown
    assert "Traceback" not in shown


def test_space_goes_on_to_the_end(tmp_path):
    code, shown = play(["demo", "--step"], "n ", tmp_path)
    assert code == 0
    assert "40 right, 0 wrong, 0 missing, 0 doubled" in shown


def test_a_refusal_stands_below_the_picture(tmp_path):
    code, shown = play(["demo", "--without", "align"], "", tmp_path)
    assert code == 1
    assert "the provider refused the request: 400 orphan_result" in shown


def test_a_replay_can_be_walked_forward_and_back(tmp_path):
    assert course("demo", "--plain", "--save", "run.json", folder=tmp_path).returncode == 0
    code, shown = play(["replay", "run.json", "--step"], "nnp q", tmp_path)
    assert code == 0
    assert "n: next   p: back" in shown
    assert "(40 of 40 completed)" in shown
