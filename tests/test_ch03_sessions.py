"""Chapter 3: what was stored is there, whole and in its order, whatever the process, the disk or a query does."""

from __future__ import annotations

import copy
import importlib.util
import itertools
import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course.provider import Fault
from reference.ch02_tools import Tool, ToolRegistry
from reference.ch12_task_state import TaskAgent
from tests.conftest import SHARED, call, recorded_transcripts
from tests.histories import histories

Message = dict[str, Any]
ROOT = Path(__file__).resolve().parents[1]

SYSTEM = {"role": "system", "content": "You are a careful agent."}
SUMMARY = {"role": "assistant", "content": "[summary] two files were read", "_generated": "summary"}


def user(text: Any) -> Message:
    return {"role": "user", "content": text}


def said(text: str) -> Message:
    return {"role": "assistant", "content": text}


def field_cases() -> list[Any]:
    """The messages of each public fault report beside the project; [] where the folder is absent."""
    path = SHARED / "fieldcases" / "loader.py"
    if not path.exists():
        return []
    spec = importlib.util.spec_from_file_location("fieldcases_loader", path)
    assert spec is not None
    assert spec.loader is not None
    loader = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loader)
    with path.with_name("cases.jsonl").open(encoding="utf-8") as lines:
        cases = [json.loads(line) for line in lines]
    return [pytest.param(loader.expand(case["messages"]), id=case["id"]) for case in cases if "messages" in case]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions.db"


@pytest.fixture
def store(chapter: ModuleType, path: Path) -> Iterator[Any]:
    ids = map("s{}".format, itertools.count(1))
    with chapter.SessionStore(path, timeout=0.01, new_id=lambda: next(ids)) as opened:
        yield opened


def tamper(path: Path, sql: str, *values: Any) -> None:
    """Change the file as another program would."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        db.execute(sql, values)
    finally:
        db.close()


@pytest.fixture
def start(chapter: ModuleType, path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """A function that starts a real process with a `store`, a `user(text)` and `sys.argv`; it is ended at the end."""
    started = []
    head = f"""
    import os, sys
    from {chapter.__name__} import SessionStore, SessionStoreError
    def user(text): return {{"role": "user", "content": text}}
    store = SessionStore(sys.argv[1], timeout=30)
    """

    def run(body: str, *arguments: str, at: Path = path) -> subprocess.Popen[str]:
        script = textwrap.dedent(head) + textwrap.dedent(body)
        command = [sys.executable, "-c", script, str(at), *arguments]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, cwd=ROOT, text=True, stdin=pipe, stdout=pipe, stderr=pipe))
        return started[-1]

    yield run
    for process in started:
        process.kill()
        process.communicate()


# Round trip


ODD_MESSAGES = [
    (user("abc\x00def"), "NUL: SQLite's text functions stop at it"),
    (user("half \ud83d of a pair"), "a lone surrogate has no UTF-8 form"),
    (user("\ud83d" + "\ude00"), "two halves that came in two chunks: not the same string as one character"),
    (user("literally \\u0000"), "a backslash that is text"),
    (said("") | {"content": None}, "None"),
    ({"role": "user"}, "content is missing"),
    ({"content": "x"}, "role is missing"),
    ({"role": 7, "content": {"a": 1}}, "neither is a string"),
    ({}, "nothing"),
    (user([{"type": "text", "text": "a"}, "bare", None, {"type": "image_url", "image_url": {"url": "u"}}]), "parts"),
    (said("x") | {"_generated": "bridge", "_at": 3, "reasoning": ["a", 1.5, True, None, {"b": []}]}, "keys of our own"),
    (said("x") | {"tool_calls": [call("a"), call("a"), {}, None, "x"]}, "an id twice, and calls that are none"),
    (said("x") | {"tool_calls": {"id": "a"}}, "calls that are no list"),
    (said("x") | {"tool_calls": [{"function": {"name": 3, "arguments": {"q": 1}}}]}, "arguments as an object"),
    (said("x") | {"tool_calls": [{"function": {"name": "f", "arguments": '{"a":' * 900 + "1" + "}" * 900}}]}, "deep"),
    (user("x" * 3_000_000), "long"),
    (user(10**40) | {"big": -0.0, "small": 1e-320}, "numbers"),
    ({"z": 1, "role": "user", "a": 2, "content": "order of keys"}, "keys keep their order"),
]


@pytest.mark.parametrize("message", [pytest.param(message, id=why) for message, why in ODD_MESSAGES])
def test_an_odd_message_comes_back_as_it_was(chapter, store, path, message):
    before = copy.deepcopy(message)
    session = store.create(messages=[SYSTEM])
    store.append(session, [message, user("after")])
    assert repr(message) == repr(before), "the message that was passed in was changed"
    with chapter.SessionStore(path) as again:
        loaded = again.load(session)
    assert loaded == [SYSTEM, message, user("after")]
    assert list(loaded[1]) == list(message), "the order of the keys changed"
    assert len(json.dumps(loaded)) == len(json.dumps([SYSTEM, message, user("after")]))
    assert store.problems == []


@pytest.mark.parametrize(
    "messages", [*field_cases(), *(pytest.param(messages, id=name) for name, messages in recorded_transcripts())]
)
def test_a_real_history_comes_back_as_it_was(chapter, store, path, messages):
    half = len(messages) // 2
    session = store.create(messages=messages[:half])
    for message in messages[half:]:
        store.append(session, [message])
    with chapter.SessionStore(path) as again:
        assert again.load(session) == messages
        assert again.history(session) == messages


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=histories(), second=histories(), text=st.text(st.characters()))
def test_any_history_comes_back_as_it_was(store, first, second, text):
    session = store.create(messages=first)
    store.append(session, [*second, user(text)])
    assert store.load(session) == [*first, *second, user(text)]


def test_the_file_is_made_on_first_use_and_a_closed_store_opens_again(chapter, path):
    store = chapter.SessionStore(path)
    assert not path.exists()
    assert store.latest() is None
    session = store.create(messages=[user("x")])
    store.close()
    store.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name], "the log was not folded into the file"
    assert store.load(session) == [user("x")]
    store.close()


def test_an_append_writes_in_proportion_to_what_is_appended(store, path):
    session = store.create(messages=[user("x" * 2_000)] * 500)
    tamper(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    store.append(session, [user("short")])
    wal = path.with_name(path.name + "-wal")
    assert wal.stat().st_size < 100_000, "a short message rewrote a million characters"


# Sessions and their children


def test_state_and_turn_are_stored_with_the_messages(store):
    session = store.create(messages=[SYSTEM], meta={"model": "m"})
    assert (store.state(session), store.meta(session), store.is_unfinished(session)) == (None, {"model": "m"}, False)
    steps = [
        # messages, state, turn                     state afterwards, unfinished, why
        ([user("go")], {"goal": "g"}, "open", {"goal": "g"}, True, "a turn begins"),
        ([said("look")], None, None, {"goal": "g"}, True, "None leaves both as they are"),
        ([], {}, None, {}, True, "an empty state is a state"),
        ([said("done")], {"goal": "h"}, "done", {"goal": "h"}, False, "the turn ends"),
    ]
    for messages, state, turn, stored, unfinished, why in steps:
        store.append(session, messages, state=state, turn=turn)
        assert (store.state(session), store.is_unfinished(session)) == (stored, unfinished), why
    assert store.load(session) == [SYSTEM, user("go"), said("look"), said("done")]


def test_three_compressions_lose_nothing_and_repeat_nothing(store):
    new = [
        [SYSTEM, *(user(f"{part}.{i}") for i in range(5))] if part == 0 else [user(f"{part}.0")] for part in range(4)
    ]
    session = store.create(messages=new[0])
    sessions = [session]
    for part in (1, 2, 3):
        carried = [SYSTEM, SUMMARY | {"content": f"[summary] {part}"}, store.load(session)[-1]]
        session = store.create(session, carried)
        assert store.load(session) == carried, "a child begins with the list that it was given, and nothing else"
        store.append(session, new[part])
        assert store.load(session) == carried + new[part]
        sessions.append(session)
    assert [store.lineage(each) for each in sessions] == [sessions[:1], sessions[:2], sessions[:3], sessions]
    assert store.history(session) == [message for part in new for message in part]
    assert store.history(sessions[1]) == new[0] + new[1]
    assert store.load(sessions[0]) == new[0], "the old rows stay in the file"
    assert store.latest() == session


def test_two_children_of_one_session_do_not_see_each_other(store):
    root = store.create(messages=[user("root")])
    left, right = store.create(root, [user("root")]), store.create(root, [user("root")])
    store.append(left, [user("left")])
    store.append(right, [user("right")])
    assert store.history(left) == [user("root"), user("left")]
    assert store.history(right) == [user("root"), user("right")]
    assert store.lineage(right) == [root, right]
    assert store.latest() == right


def test_a_child_goes_on_where_its_parent_stood(store):
    root = store.create(messages=[user("go")], state={"goal": "g"}, meta={"protect": 2})
    store.append(root, [], turn="open")
    child = store.create(root, [user("go")])
    assert (store.state(child), store.meta(child)) == ({"goal": "g"}, {"protect": 2})
    assert [store.is_unfinished(each) for each in (root, child)] == [False, True], "one turn is unfinished, not two"
    assert (store.state(store.create(root, state={}, meta={})), store.state(root)) == ({}, {"goal": "g"})


@pytest.mark.parametrize("method", ["load", "state", "meta", "lineage", "history", "is_unfinished", "append", "create"])
@pytest.mark.parametrize("session", ["nobody", "", "\ud83d", None])
def test_an_unknown_session_is_an_error(chapter, store, method, session):
    store.create(messages=[user("x")])
    if (method, session) == ("create", None):
        return  # a session without a parent
    with pytest.raises(chapter.SessionStoreError, match=r"there is no session|surrogates"):
        getattr(store, method)(session, *([[]] if method == "append" else []))


# One transaction a call


FAULTS = [
    ("CREATE TRIGGER t BEFORE INSERT ON messages WHEN new.position >= 3 BEGIN SELECT raise(ABORT, 'no'); END", "a row"),
    ("CREATE TRIGGER t BEFORE UPDATE ON sessions BEGIN SELECT raise(ABORT, 'no'); END", "the state or the mark"),
]


@pytest.mark.parametrize("fault", [pytest.param(sql, id=where) for sql, where in FAULTS])
def test_a_fault_in_the_middle_leaves_all_as_it_was(chapter, store, path, fault):
    root = store.create(messages=[user("a"), user("b")], state={"goal": "old"})
    tamper(path, fault)
    with pytest.raises(chapter.SessionStoreError, match=r"sessions\.db: .*no"):
        store.append(root, [user("lost 1"), user("lost 2")], state={"goal": "new"}, turn="open")
    assert store.load(root) == [user("a"), user("b")]
    assert (store.state(root), store.is_unfinished(root), store.search("lost")) == ({"goal": "old"}, False, [])
    tamper(path, "DROP TRIGGER t")
    store.append(root, [user("c")])
    assert store.load(root) == [user("a"), user("b"), user("c")]


def test_a_child_and_what_it_carries_come_together_or_not_at_all(chapter, store, path):
    root = store.create(messages=[user("a")])
    store.append(root, [], turn="open")
    tamper(path, FAULTS[0][0])
    with pytest.raises(chapter.SessionStoreError):
        store.create(root, [SYSTEM, SUMMARY, user("a"), user("b")])
    assert (store.latest(), store.is_unfinished(root)) == (root, True), "the turn went to a child that is not there"


NOT_STORABLE: list[tuple[dict[str, Any], str]] = [
    ({"messages": [user("x"), user({1, 2})]}, "JSON"),
    ({"messages": [user("x")], "state": {"a": object()}}, "JSON"),
    ({"messages": [user("x")], "turn": "half"}, "'open' or 'done'"),
]


@pytest.mark.parametrize(("given_", "says"), NOT_STORABLE)
def test_what_cannot_be_stored_is_refused_as_a_whole(chapter, store, given_, says):
    session = store.create(messages=[user("a")])
    with pytest.raises(chapter.SessionStoreError, match=says):
        store.append(session, **given_)
    assert store.load(session) == [user("a")]


def test_an_id_that_is_taken_is_refused(chapter, path):
    with chapter.SessionStore(path, new_id=lambda: "same") as store:
        store.create(messages=[user("first")])
        with pytest.raises(chapter.SessionStoreError, match="an id must be new"):
            store.create(messages=[user("second")])
        assert store.load("same") == [user("first")]


# Several at once


def test_a_killed_process_leaves_whole_pairs_and_all_that_it_reported(chapter, start, path):
    process = start(
        """
        session = store.create()
        print(session, flush=True)
        for n in range(1_000_000):
            store.append(session, [user(f"{n} a"), user(f"{n} b")], state={"n": n}, turn="open")
            print(n, flush=True)
        """
    )
    session = process.stdout.readline().strip()
    for _ in range(25):
        process.stdout.readline()
    process.send_signal(signal.SIGKILL)
    rest, errors = process.communicate()
    assert (process.returncode, errors) == (-signal.SIGKILL, "")
    reported = 24 + rest.count("\n")
    with chapter.SessionStore(path) as store:
        loaded = store.load(session)
        pairs = len(loaded) // 2
        assert loaded == [user(f"{n} {letter}") for n in range(pairs) for letter in "ab"]
        assert pairs > reported, "the process had said that more was stored"
        assert store.state(session) == {"n": pairs - 1}, "the state is that of the last whole turn"
        assert store.is_unfinished(session)
        assert store.problems == []
        store.append(session, [user("on")], turn="done")
        assert store.load(session)[-1] == user("on")


def test_two_processes_that_write_one_file_lose_nothing(chapter, start, path):
    body = """
    print("ready", flush=True)
    shared, name = sys.stdin.readline().strip(), sys.argv[2]
    session = shared or store.create(messages=[user(name)])
    for n in range(40):
        store.append(session, [user(f"{name} {n} a"), user(f"{name} {n} b")])
    print(session)
    """

    def write(shared: str) -> list[str]:
        writers = [start(body, name) for name in ("left", "right")]
        assert [writer.stdout.readline() for writer in writers] == ["ready\n"] * 2
        for writer in writers:  # both begin now
            writer.stdin.write(f"{shared}\n")
            writer.stdin.flush()
        answers = [writer.communicate() for writer in writers]
        assert [errors for _, errors in answers] == ["", ""]
        return [output.strip() for output, _ in answers]

    own = write("")  # the file is not there yet: both make it
    with chapter.SessionStore(path) as store:
        for name, session in zip(("left", "right"), own, strict=True):
            mine = [user(f"{name} {n} {letter}") for n in range(40) for letter in "ab"]
            assert store.load(session) == [user(name), *mine]
        shared = store.create()
        assert write(shared) == [shared, shared]
        loaded = store.load(shared)
        assert len(loaded) == 160
        for name in ("left", "right"):
            mine = [m["content"] for m in loaded if m["content"].startswith(name)]
            assert mine == [f"{name} {n} {letter}" for n in range(40) for letter in "ab"]
        firsts, seconds = loaded[::2], loaded[1::2]
        assert all(a["content"][:-1] == b["content"][:-1] for a, b in zip(firsts, seconds, strict=True)), "a pair split"


def test_threads_share_one_store(store):
    session = store.create()

    def write(name: int) -> None:
        for n in range(20):
            store.append(session, [user(f"{name} {n}")])
            store.load(session)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    texts = [message["content"] for message in store.load(session)]
    assert len(texts) == 80
    for name in range(4):
        assert [text for text in texts if text.startswith(f"{name} ")] == [f"{name} {n}" for n in range(20)]


def test_a_lock_that_is_not_given_back_is_named_and_nothing_is_lost(chapter, store, path):
    session = store.create(messages=[user("a")])
    other = sqlite3.connect(path, isolation_level=None)
    try:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(chapter.SessionStoreError, match=r"sessions\.db: another program keeps it locked: close"):
            store.append(session, [user("b")])
        assert store.load(session) == [user("a")], "a reader does not wait for a writer"
        other.execute("ROLLBACK")
    finally:
        other.close()
    store.append(session, [user("b")])
    assert store.load(session) == [user("a"), user("b")]


def test_a_lock_that_is_given_back_is_waited_for(chapter, path):
    with chapter.SessionStore(path, timeout=60) as store:
        session = store.create()
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.2, other.execute, ["ROLLBACK"])
        release.start()
        store.append(session, [user("b")])
        release.join()
        other.close()
        assert store.load(session) == [user("b")]


def test_a_lock_that_is_refused_at_once_is_tried_again(chapter, path):
    with chapter.SessionStore(path, timeout=0) as store:
        session = store.create()
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        release = threading.Timer(0.01, other.execute, ["ROLLBACK"])  # between the attempts, which take 0.12 s
        release.start()
        store.append(session, [user("b")])
        release.join()
        other.close()
        assert store.load(session) == [user("b")]


# Damage


def test_a_damaged_row_is_left_out_and_reported(store, path):
    session = store.create(messages=[user(f"valid {i}") for i in range(6)], state={"a": 1})
    damage = [(1, "not json {{{"), (2, b"\xff\xfe"), (3, "[1]"), (4, "null")]
    for position, body in damage:
        tamper(path, "UPDATE messages SET body = ? WHERE position = ?", body, position)
    tamper(path, "UPDATE sessions SET state = CAST(x'ff7b' AS TEXT)")
    assert store.load(session) == [user("valid 0"), user("valid 5")]
    assert store.load(session) == store.history(session)
    assert store.state(session) is None
    assert len(store.problems) == 5, "each is reported, and once"
    assert f"session {session}, message 2: damaged" in store.problems[1]
    assert len(store.search("valid", limit=2)) == 2
    store.append(session, [user("new")])
    assert store.load(session)[-1] == user("new")


def not_a_database(path: Path) -> None:
    path.write_bytes(b"Dear diary, " * 500)


def of_another_program(path: Path) -> None:
    tamper(path, "CREATE TABLE notes (text)")


def of_another_version(path: Path) -> None:
    tamper(path, "PRAGMA user_version = 99")


BAD_FILES = [
    (not_a_database, "it is not a session store: choose another file"),
    (of_another_program, "its schema is version 0, not 1: choose another file"),
    (of_another_version, "its schema is version 99, not 1: choose another file"),
    (Path.mkdir, "it cannot be opened"),
    (lambda path: path.symlink_to(path.parent / "missing" / "x.db"), "the folder must exist"),
]


@pytest.mark.parametrize(("make", "says"), BAD_FILES)
def test_a_file_that_is_no_store_is_named_and_left_alone(chapter, store, path, make, says):
    make(path)
    before = path.read_bytes() if path.is_file() else None
    for use in (store.latest, store.create, lambda: store.append("a", []), lambda: store.search("a")):
        with pytest.raises(chapter.SessionStoreError, match=says) as caught:
            use()
        assert str(path) in str(caught.value)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_file_with_a_hole_is_named_as_damaged(chapter, path):
    with chapter.SessionStore(path) as store:
        session = store.create(messages=[user("x" * 500) for _ in range(200)])
    whole = path.read_bytes()
    path.write_bytes(whole[:8_192] + b"\xa5" * (len(whole) - 8_192))
    with (
        chapter.SessionStore(path) as store,
        pytest.raises(chapter.SessionStoreError, match="it is damaged: keep a copy"),
    ):
        store.load(session)


def test_a_full_disk_is_named_and_what_was_stored_stays(chapter, store):
    session = store.create(messages=[user("kept")], state={"goal": "g"})
    with store._file._open() as db:
        pages = db.execute("PRAGMA page_count").fetchone()[0]
        db.execute(f"PRAGMA max_page_count = {pages + 2}")
    with pytest.raises(chapter.SessionStoreError, match="the disk is full"):
        store.append(session, [user("small"), user("x" * 100_000)], state={"goal": "new"})
    with pytest.raises(chapter.SessionStoreError, match="the disk is full"):
        store.create(session, [user("x" * 100_000)])
    assert (store.load(session), store.state(session), store.latest()) == ([user("kept")], {"goal": "g"}, session)
    with store._file._open() as db:
        db.execute("PRAGMA max_page_count = 1000000")
    store.append(session, [user("on")])
    assert store.load(session) == [user("kept"), user("on")]


def test_a_file_that_may_not_grow_is_an_error_and_what_was_stored_stays(chapter, start, path):
    """A real write that fails, by the limit of the process on a file's size."""
    process = start(
        """
        import resource
        session = store.create(messages=[user("kept")])
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
        try:
            store.append(session, [user("x" * 1_000_000)])
        except SessionStoreError as error:
            print(session, error)
        """
    )
    output, errors = process.communicate()
    assert errors == ""
    session, _, message = output.partition(" ")
    assert str(path) in message
    with chapter.SessionStore(path) as store:
        assert store.load(session) == [user("kept")]


@pytest.mark.parametrize("exists", [True, False], ids=["stored before", "no file yet"])
def test_a_folder_that_may_not_be_written_is_named(chapter, start, exists):
    folder = Path(tempfile.mkdtemp())  # not in tmp_path, which another user may not enter
    try:
        if exists:
            with chapter.SessionStore(folder / "a.db") as store:
                store.create()
        folder.chmod(0o555)
        process = start(
            """
            if os.geteuid() == 0:
                os.seteuid(65534)  # a superuser may write everywhere
            try:
                store.create()
            except SessionStoreError as error:
                print(error)
            """,
            at=folder / "a.db",
        )
        output, errors = process.communicate()
        assert errors == ""
        assert "writable" in output
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)


# Search


TEXTS = [
    user("Please compress the history of foo-bar, AND keep the tests."),
    said("") | {"content": None, "tool_calls": [call("a", "src/window.py", "read_file")]},
    {"role": "tool", "tool_call_id": "a", "content": [{"type": "text", "text": "def window(): pass  # café"}]},
    user("压缩上下文窗口。请保留最后的请求。"),
    user('He said "NEAR(a, b)" costs 100% * 2, smile 🎉 C:\\tmp_x'),
    said("")
    | {"content": None, "tool_calls": [{"id": "b", "function": {"name": "grep", "arguments": '{"q": "\\u7a97"}'}}]},
    user("broken \x00 and \ud83d here"),
]
QUERIES = [
    ("compress", [0], "a word"),
    ("HISTORY compress", [0], "several words, in any order and case"),
    ("compress window", [], "all of them in one message"),
    ("window", [2, 1], "text of parts and arguments of calls"),
    ("src/window.py", [1], "a path"),
    ("read_file", [1], "the name of a tool"),
    ("cafe", [2], "without its accent"),
    ("foo-bar", [0], "the index would read: foo, not in column bar"),
    ("AND", [6, 0], "an operator of the index"),
    ("NOT", [], "another one"),
    ("NEAR(", [4], "half of another one"),
    ('"', [5, 4, 1], "an open quote; arguments are JSON"),
    ('"NEAR(a', [4], "an open quote and more"),
    ("*", [4], "no word at all"),
    ("100%", [4], "the wildcard of LIKE is text"),
    ("tmp_x", [4], "the other one too"),
    ("C:\\tmp", [4], "a colon and a backslash"),
    ("🎉", [4], "no letter"),
    ("mpress", [0], "part of a word: found by the scan"),
    ("压缩", [3], "no spaces between words"),
    ("请求 窗口", [3], "two of them"),
    ("窗", [5, 3], "written as an escape in the arguments"),
    ("broken", [6], "beside NUL and a lone surrogate"),
    ("\x00", [6], "NUL, as it was indexed"),
    ("\ud83d", [6], "a lone surrogate"),
    ("", [], "nothing"),
    (" \n", [], "only blanks"),
    ("^compress -foo {text}: bar", [], "the rest of the syntax"),
    ("zebra", [], "not there"),
    ("x" * 200_000, [], "a very long word"),
    ("a-" * 100_000, [], "very many parts"),
    ("compress " * 50_000, [0], "very many words"),
    ("a " * 50_000, [4], "very many short words"),
    ("文 " * 50_000, [3], "very many that are scanned for"),
]


@pytest.mark.parametrize(("query", "expected"), [pytest.param(q, hits, id=why) for q, hits, why in QUERIES])
def test_search_takes_any_query(store, query, expected):
    session = store.create(messages=TEXTS)
    hits = store.search(query)
    assert sorted(hit["position"] for hit in hits) == sorted(expected)
    for hit in hits:
        assert hit["role"] == TEXTS[hit["position"]]["role"]
        assert store.load(hit["session_id"])[hit["position"]] == TEXTS[hit["position"]], "the hit leads to its message"
    assert hits == store.search(query, session_id=session)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(query=st.text(st.one_of(st.sampled_from('"*()^:-+{} ANDORTEx'), st.characters())), limit=st.integers(-2, 3))
def test_no_query_raises(store, query, limit):
    if store.latest() is None:
        store.create(messages=TEXTS)
    assert len(store.search(query, limit)) <= max(0, limit)


def test_search_finds_old_sessions_and_carried_rows_only_once(store):
    root = store.create(messages=[SYSTEM, user("the needle")])
    child = store.create(root, [SYSTEM, user("the needle")])
    store.append(child, [said("another needle")])
    store.create(messages=[user("a needle elsewhere")])
    found = {(hit["session_id"], hit["position"]) for hit in store.search("needle")}
    assert found == {(root, 1), (child, 2), ("s3", 0)}
    assert {(hit["session_id"], hit["position"]) for hit in store.search("needle", session_id=child)} == {
        (root, 1),
        (child, 2),
    }
    assert [hit["session_id"] for hit in store.search("needle", session_id=root)] == [root]
    assert len(store.search("needle", limit=2)) == 2


def test_the_best_hit_comes_first(store):
    session = store.create(messages=[user("needle, needle and needle"), user("a needle " + "in the hay " * 50)])
    assert [hit["position"] for hit in store.search("needle", session_id=session)] == [0, 1]


def test_a_snippet_shows_the_place(store):
    store.create(messages=[user("before " * 5_000 + "\nthe needle\n" + "after " * 5_000)])
    snippet = store.search("NEEDLE")[0]["snippet"]
    assert "before the needle after" in snippet
    assert snippet[0] == snippet[-1] == "…"
    assert len(snippet) <= 202


# The agent that is stored as it goes


def stored_agent(chapter, client, store, **settings):
    registry = ToolRegistry([Tool("read_file", "", {"type": "object"}, lambda path: f"text of {path}")])
    return chapter.SessionAgent(client, "m", registry, store=store, **settings)


def asks_for(*paths):
    return {"role": "assistant", "content": None, "tool_calls": [call(f"c{i}", p) for i, p in enumerate(paths)]}


def test_a_turn_is_stored_as_it_grows_and_closed_at_its_end(chapter, store, provider_with):
    seen = []

    def watch(kind, **data):
        """What is heard of is in the store already, and the turn is still open."""
        if kind in ("user", "response", "tool_end"):
            seen.append(kind)
            assert data["message"] in store.load(store.latest())
            assert store.is_unfinished(store.latest())

    with provider_with(asks_for("a.md", "b.md"), "Done.") as provider, provider.client() as client:
        agent = stored_agent(chapter, client, store, on_event=watch)
        outcome = agent.run([SYSTEM, user("go")])
    assert seen == ["user", "response", "tool_end", "tool_end", "response"]
    assert store.load(agent.session_id) == outcome["messages"]
    assert not store.is_unfinished(agent.session_id)


def test_a_turn_that_breaks_off_is_marked_and_can_be_resumed(chapter, store, provider_with):
    faults = [Fault("drop", at=2)]
    with provider_with(asks_for("a.md"), faults=faults) as provider, provider.client() as client:
        agent = stored_agent(chapter, client, store)
        with pytest.raises(openai.APIConnectionError):
            agent.run([SYSTEM, user("go")])
    assert store.is_unfinished(agent.session_id)
    assert [message["role"] for message in store.load(agent.session_id)] == ["system", "user", "assistant", "tool"]
    with provider_with("Done.") as provider, provider.client() as client:
        again = stored_agent(chapter, client, store, session_id=store.latest())
        outcome = again.resume("Go on.")
    assert [message["role"] for message in provider.log[0].body["messages"]][-2:] == ["tool", "user"]
    assert store.load(agent.session_id) == outcome["messages"]
    assert not store.is_unfinished(agent.session_id)


def test_without_a_store_nothing_is_kept_and_nothing_fails(chapter, provider_with):
    with provider_with("Done.") as provider, provider.client() as client:
        agent = stored_agent(chapter, client, None)
        assert agent.run([user("go")])["final_response"] == "Done."
        with pytest.raises(ValueError, match="no session to resume"):
            agent.resume("Go on.")


def test_a_child_session_begins_at_each_compression_and_the_full_history_is_still_there(store, provider_with):
    """The agent of chapter 12, with everything in between, in a window that overflows."""
    text = "data " * 400
    registry = ToolRegistry([Tool("read_file", "", {"type": "object"}, lambda path: text)])
    write = {"name": "todo_write", "arguments": '{"items": ["read all"]}'}
    first = {"role": "assistant", "content": None, "tool_calls": [{"id": "t", "type": "function", "function": write}]}
    replies = [first, *(asks_for(f"{i}.md") for i in range(60)), "Done."]
    reports = []
    with provider_with(*replies) as provider, provider.client() as client:
        agent = TaskAgent(
            client,
            "m",
            registry,
            context_length=8_192,
            summarize=lambda turns, previous: "## Goal\nread",
            store=store,
            on_event=lambda kind, **data: reports.append(data["report"]) if kind == "compression" else None,
        )
        agent.run([SYSTEM, user("go")])
    lineage = store.lineage(agent.session_id)
    assert len(lineage) == 1 + len(reports)
    assert store.load(agent.session_id) == agent.messages
    history = store.history(agent.session_id)
    assert [message["content"] for message in history if message["role"] == "tool"][1:] == [text] * 60
    assert [message["content"] for message in history if message["role"] == "user"] == ["go"]
    assert store.state(agent.session_id)["todos"][0]["subject"] == "read all"
    assert sum(store.is_unfinished(session) for session in lineage) == 0
