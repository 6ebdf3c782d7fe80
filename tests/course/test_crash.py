"""A real process is killed at each event of a turn, and at each step of the transaction in which a child session begins.

Then the store is whole, with the old or the new state and never a mixture, and the work can go on.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from course.timeline import read_timeline
from reference.ch03_sessions import SessionStore, SessionStoreError
from tests.course.test_demo import NO_KEY, course, number

ROOT = Path(__file__).resolve().parents[2]

# Runs the demo in the current folder; prints each event when it is shown, and dies at the one that is asked for.
DRIVER = """
import json, os, signal, sys
from course.demo import DemoSettings, run_demo
from course.views import make_console

class Deadly:
    def __call__(self, timeline, event):
        message = timeline.messages.get(event.data.get("message"))
        print(json.dumps({"kind": event.kind, "message": message}), flush=True)
        if event.number == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
    def close(self):
        pass

run_demo(DemoSettings(), make_console(plain=True), Deadly())
"""

pytestmark = pytest.mark.skipif(os.name == "nt", reason="kills with SIGKILL")


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    """The events of an undisturbed run."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert course("demo", "--plain", "--save", "run.json", folder=folder).returncode == 0
    return read_timeline(folder / "run.json").events


def moments(events):
    """The numbers of events to die at: the first ones, all around one compression with a summary, and the last."""
    summary = next(e.number for e in events if e.kind == "compression" and e.data["outcome"] == "compressed")
    return [1, 2, 3, 4, *range(summary - 8, summary + 4), len(events) - 1]


def killed_at(moment, folder):
    """The events that a process showed before it was killed."""
    command = [sys.executable, "-c", DRIVER, str(moment)]
    environment = NO_KEY | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert run.returncode == -signal.SIGKILL, run.stderr
    return [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]


def check(moment, folder):
    """What must hold after a kill: nothing that was shown is missing, at most one turn is open, the work goes on."""
    shown = killed_at(moment, folder)
    with SessionStore(folder / "course-demo" / "sessions.db") as store:
        latest = store.latest()
        if any(event["kind"] == "session" for event in shown):
            history = store.history(latest)
            for event in shown:
                if event["kind"] in ("user", "response", "tool_end"):
                    assert event["message"] in history, f"{event['kind']} was shown and is not stored"
            lineage = store.lineage(latest)
            assert lineage[-1] == latest
            assert sum(map(store.is_unfinished, lineage)) == 1
            assert store.load(latest)
            assert store.problems == []
    run = course("demo", "--plain", *(["--resume"] if latest else []), folder=folder)
    assert number("refused requests", run.stdout) == 0, run.stdout
    lines = (folder / "course-demo" / "report.md").read_text().splitlines()
    paths = {line.split(": ")[0] for line in lines}
    assert len(paths) == 40, "every file is noted"
    assert len(lines) - len(paths) <= 1, "at most the work of the step that was cut off is done again"
    return moment


def test_a_kill_at_any_event_of_a_turn_loses_nothing(events, tmp_path):
    numbers = moments(events)
    kinds = {events[number - 1].kind for number in numbers}
    assert {"session", "user", "request", "response", "tool_start", "tool_end", "compression", "task_state"} <= kinds
    folders = [tmp_path / str(number) for number in numbers]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(check, numbers, folders)) == numbers


INTERRUPTED = """
import os, signal, sys
from course.demo import DemoError, DemoSettings, run_demo
from course.views import make_console

class Impatient:
    def __call__(self, timeline, event):
        if event.number == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGINT)
    def close(self):
        pass

try:
    run_demo(DemoSettings(), make_console(plain=True), Impatient())
except DemoError as error:
    print(error)
"""


def interrupted_and_resumed(moment, folder):
    """The output of `--resume` after Ctrl-C was pressed at an event."""
    command = [sys.executable, "-c", INTERRUPTED, str(moment)]
    environment = NO_KEY | {"PYTHONPATH": str(ROOT)}
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    assert "Interrupted." in run.stdout, run.stderr
    return course("demo", "--plain", "--resume", folder=folder).stdout


@pytest.mark.slow
def test_after_ctrl_c_the_work_goes_on_where_it_stopped(events, tmp_path):
    """In mid-batch too: what had run is known, and what had not is done again, not noted as an error of the file."""
    batch = [e.number for e in events if e.kind == "tool_start" and e.data["tool"] == "read_file"]
    ends = [e.number for e in events if e.kind == "tool_end"]
    numbers = [batch[9], batch[20] + 1, ends[60], len(events) - 2]
    folders = [tmp_path / str(number) for number in numbers]
    for folder in folders:
        folder.mkdir()
    with ThreadPoolExecutor(2) as pool:
        for moment, output in zip(numbers, pool.map(interrupted_and_resumed, numbers, folders), strict=True):
            assert "40 right, 0 wrong, 0 missing" in output, f"interrupted at event {moment}: {output[-1500:]}"
            assert number("refused requests", output) == 0


def test_resume_without_a_session_is_said(tmp_path):
    run = course("demo", "--plain", "--resume", folder=tmp_path)
    assert run.returncode == 1
    assert "There is no session in course-demo/sessions.db to resume." in run.stderr


def test_a_finished_session_can_be_resumed_and_does_nothing_twice(tmp_path):
    assert course("demo", "--plain", folder=tmp_path).returncode == 0
    run = course("demo", "--plain", "--resume", folder=tmp_path)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "40 right, 0 wrong, 0 missing, 0 doubled" in run.stdout
    assert number("model calls of the agent", run.stdout) == 1


# Begins a child session, and dies on the way: at an SQL statement, or where a file grows beyond a number of bytes.
CHILD = """
import json, os, resource, signal, sys
from reference.ch03_sessions import SessionStore

path, how, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = SessionStore(path)
parent = store.latest()
carried = json.loads(sys.argv[4])
count = 0

def trace(statement):
    global count
    count += 1
    if count == number:
        os.kill(os.getpid(), signal.SIGKILL)

if how == "statement":
    store._file._connection.set_trace_callback(trace)
if how == "bytes":
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (number, number))
store.create(parent, carried, {"todo": "new"})
print(count, os.path.getsize(path + "-wal"), flush=True)
"""
OLD = [{"role": "user", "content": f"message {number} " + "text " * 600} for number in range(6)]
CARRIED = [OLD[0], {"role": "assistant", "content": "a summary " * 200}, OLD[5]]


def begin_child(folder, how, number):
    """(exit code, (statements, bytes of the log)) of a process that begins a child of the newest session there."""
    command = [sys.executable, "-c", CHILD, str(folder / "sessions.db"), how, str(number), json.dumps(CARRIED)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert run.returncode <= 0, run.stderr
    return run.returncode, tuple(map(int, run.stdout.split()))


def parent_in(folder):
    """The id of a session with an open turn and a state, in a new store of a folder."""
    folder.mkdir()
    with SessionStore(folder / "sessions.db") as store:
        return store.create(None, OLD, {"todo": "old"}, turn="open")


def stands(folder):
    """What the store of a folder holds as its newest session: (the lineage's length, list, history, state, open turns)."""
    with SessionStore(folder / "sessions.db") as store:
        line = store.lineage(store.latest())
        assert store.problems == []
        unfinished = [store.is_unfinished(session) for session in line]
        return len(line), store.load(line[-1]), store.history(line[-1]), store.state(line[-1]), unfinished


BEFORE = (1, OLD, OLD, {"todo": "old"}, [True])
AFTER = (2, CARRIED, OLD, {"todo": "new"}, [False, True])


@pytest.mark.parametrize("how", ["statement", "bytes"])
def test_a_kill_inside_the_transaction_that_begins_a_child_leaves_the_old_state(tmp_path, how):
    """At each SQL statement; and while COMMIT writes its pages, by a limit on the size of the file."""
    parent_in(tmp_path / "whole")
    code, (statements, size) = begin_child(tmp_path / "whole", "statement", 0)
    assert (code, stands(tmp_path / "whole")) == (0, AFTER)
    steps = range(1, statements + 1) if how == "statement" else [*range(0, size, max(1, size // 12)), size - 1]
    deadly = signal.SIGKILL if how == "statement" else signal.SIGXFSZ
    for step in steps:
        folder = tmp_path / f"{step}"
        parent_in(folder)
        assert begin_child(folder, how, step)[0] == -deadly, f"{how} {step}: the process lived on"
        assert stands(folder) == BEFORE, f"killed at {how} {step}"
        assert begin_child(folder, "statement", 0)[0] == 0
        assert stands(folder) == AFTER, f"the work does not go on after a kill at {how} {step}"
    assert len(steps) >= 8


BAD = [
    ("not a database", b"hello" * 400, "it is not a session store"),
    ("damaged", None, "damaged"),
]


@pytest.mark.parametrize(("why", "content", "sentence"), BAD, ids=[row[0] for row in BAD])
def test_a_bad_database_is_said_and_left_alone(tmp_path, why, content, sentence):
    assert course("demo", "--plain", folder=tmp_path).returncode == 0
    file = tmp_path / "course-demo" / "sessions.db"
    if content is None:
        whole = file.read_bytes()
        content = whole[:4_096] + b"\x7f" * (len(whole) - 4_096)
    file.write_bytes(content)
    run = course("demo", "--plain", folder=tmp_path)
    assert run.returncode == 1
    assert sentence in run.stderr
    assert "Traceback" not in run.stderr
    assert file.read_bytes() == content


def test_two_processes_on_one_database_keep_their_sessions_apart(tmp_path):
    folder = tmp_path / "course-demo"
    folder.mkdir()
    command = [sys.executable, "-m", "course", "demo", "--plain", "--report"]
    runs = [
        subprocess.Popen([*command, f"course-demo/{name}.md"], cwd=tmp_path, env=NO_KEY, stdout=subprocess.DEVNULL)
        for name in ("a", "b")
    ]
    assert [run.wait(timeout=120) for run in runs] == [0, 0]
    with SessionStore(folder / "sessions.db") as store:
        ends = [session for session in all_sessions(store) if not store.is_unfinished(session)]
        latest = store.latest()
        assert len(store.lineage(latest)) > 10
        assert len(ends) == len(all_sessions(store))
        for session in (latest, other_end(store, latest)):
            read = [m for m in store.history(session) if m["role"] == "tool" and "Fact:" in str(m["content"])]
            assert len(read) == 40


def all_sessions(store):
    return [row[0] for row in store._file.read("SELECT id FROM sessions")]


def other_end(store, latest):
    """The leaf of the other lineage."""
    parents = {row[0] for row in store._file.read("SELECT parent FROM sessions")}
    return next(session for session in all_sessions(store) if session not in parents and session != latest)


def test_a_locked_database_is_said(tmp_path):
    path = tmp_path / "sessions.db"
    with SessionStore(path) as store, SessionStore(path, timeout=0) as impatient:
        session = store.create()
        with store._file.transaction(), pytest.raises(SessionStoreError, match="another program keeps it locked"):
            impatient.append(session, [{"role": "user", "content": "x"}])
        assert store.load(session) == []
