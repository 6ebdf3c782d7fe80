"""Chapter 3, what `course check 3` runs: one function at a time, on a real file, without a model.

What the store promises beyond that, to other processes, threads and damaged files, is in `tests/test_ch03_sessions.py`.
"""

from __future__ import annotations

import json
import sqlite3

import pytest

SYSTEM, USER = {"role": "system", "content": "s"}, {"role": "user", "content": "u"}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "r", "_at": 3}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "sessions.db"


@pytest.fixture
def store(chapter, path):
    ids = iter("ABCDEFGH")
    with chapter.SessionStore(path, timeout=0.01, new_id=lambda: next(ids)) as opened:
        yield opened


def sql(path, query, *values):
    """What another program reads from the file, or changes in it."""
    db = sqlite3.connect(path, isolation_level=None)
    try:
        return db.execute(query, values).fetchall()
    finally:
        db.close()


def stored(path, session):
    """The rows of a session: (position, carried, message)."""
    query = "SELECT position, carried, body FROM messages WHERE session = ? ORDER BY position"
    return [(position, bool(carried), json.loads(body)) for position, carried, body in sql(path, query, session)]


@pytest.mark.exercise("3.1")
def test_new_messages_stand_behind_those_that_are_there(store, path):
    session = store.create(messages=[SYSTEM, USER])
    store.append(session, [CALL])
    store.append(session, [RESULT, USER])
    assert stored(path, session) == [
        (0, False, SYSTEM),
        (1, False, USER),
        (2, False, CALL),
        (3, False, RESULT),
        (4, False, USER),
    ]


@pytest.mark.exercise("3.1")
def test_an_empty_session_begins_at_position_0(store, path):
    session = store.create()
    store.append(session, iter([USER]))
    assert stored(path, session) == [(0, False, USER)]


@pytest.mark.exercise("3.1")
def test_a_row_that_is_missing_leaves_a_gap(store, path):
    session = store.create(messages=[SYSTEM, USER, CALL])
    sql(path, "DELETE FROM messages WHERE position = 1")
    store.append(session, [RESULT])
    positions = [position for position, _, _ in stored(path, session)]
    assert positions == [0, 2, 3], "the next position is one more than the last, not the number of rows"


@pytest.mark.exercise("3.1")
@pytest.mark.parametrize(
    ("state", "turn", "expected"),
    [
        ({"goal": "g"}, "open", ({"goal": "g"}, True)),  # both are set
        (None, None, ({"goal": "old"}, True)),  # None leaves what is stored
        ({}, None, ({}, True)),  # an empty state is a state
        (None, "done", ({"goal": "old"}, False)),  # the turn ends, the state stays
    ],
)
def test_state_and_turn_are_stored_with_the_messages(store, state, turn, expected):
    session = store.create(messages=[USER], state={"goal": "old"}, turn="open")
    store.append(session, [CALL], state=state, turn=turn)
    assert (store.state(session), store.is_unfinished(session)) == expected


@pytest.mark.exercise("3.1")
@pytest.mark.parametrize(
    ("messages", "settings"),
    [
        ([CALL, {"role": "user", "content": {1, 2}}], {}),  # the second message has no JSON form
        ([CALL], {"state": {"x": {1, 2}}}),  # the state has none
        ([CALL], {"turn": "half"}),  # no such mark
    ],
)
def test_when_anything_fails_all_is_as_it_was(store, path, messages, settings):
    session = store.create(messages=[USER], state={"goal": "old"})
    raised = ""
    try:
        store.append(session, messages, **settings)
    except RuntimeError as error:
        raised = type(error).__name__
    assert stored(path, session) == [(0, False, USER)], "one transaction: everything or nothing"
    assert (store.state(session), raised) == ({"goal": "old"}, "SessionStoreError")


@pytest.mark.exercise("3.1")
def test_nothing_is_appended_to_a_session_that_is_not_there(chapter, store, path):
    store.create(messages=[USER])
    with pytest.raises(chapter.SessionStoreError):
        store.append("nowhere", [USER])
    assert stored(path, "nowhere") == [], "a message without a session is found by nobody"


@pytest.mark.exercise("3.2")
def test_what_was_stored_comes_back_key_for_key(store):
    session, other = store.create(messages=[SYSTEM, USER, CALL, RESULT]), store.create(messages=[USER])
    assert store.load(session) == [SYSTEM, USER, CALL, RESULT]
    assert store.load(other) == [USER], "only the rows of the session that is asked for"
    assert store.load(store.create()) == [], "an empty session is an empty list"


@pytest.mark.exercise("3.2")
def test_a_child_begins_with_what_it_carries(store):
    parent = store.create(messages=[SYSTEM, USER, CALL, RESULT])
    child = store.create(parent, [SYSTEM, USER])
    assert store.load(child) == [SYSTEM, USER], "carried rows are part of the current list"
    assert store.load(parent) == [SYSTEM, USER, CALL, RESULT], "and the parent keeps what was there"


@pytest.mark.exercise("3.2")
def test_the_order_is_that_of_the_positions(store, path):
    session = store.create(messages=[SYSTEM, USER, CALL])
    sql(path, "UPDATE messages SET position = 10 - position")
    assert store.load(session) == [CALL, USER, SYSTEM]


@pytest.mark.exercise("3.2")
@pytest.mark.parametrize("damage", [b"{broken", b"[1, 2]", b"\xff\xfe"])
def test_a_damaged_row_is_left_out_and_named(store, path, damage):
    session = store.create(messages=[SYSTEM, USER, CALL])
    sql(path, "UPDATE messages SET body = ? WHERE position = 1", damage)
    assert store.load(session) == [SYSTEM, CALL]
    assert len(store.problems) == 1, "`_decoded` names it in `problems`"


@pytest.mark.exercise("3.2")
def test_an_unknown_session_is_no_empty_conversation(chapter, store):
    store.create(messages=[USER])
    with pytest.raises(chapter.SessionStoreError):
        store.load("nowhere")


@pytest.mark.exercise("3.3")
@pytest.mark.parametrize(
    ("session", "ids"),
    [
        ("A", ["A"]),  # a root
        ("B", ["A", "B"]),
        ("C", ["A", "B", "C"]),  # the root first
        ("D", ["A", "D"]),  # B's sister: neither B nor C belongs to it
        ("E", ["E"]),  # another tree
    ],
)
def test_the_lineage_goes_from_the_root_to_the_session(store, session, ids):
    for parent in (None, "A", "B", "A", None):
        store.create(parent, [USER])
    assert store.lineage(session) == ids


@pytest.mark.exercise("3.3")
def test_a_long_lineage(chapter, path):
    ids = [f"s{number}" for number in range(30)]
    names = iter(ids)
    with chapter.SessionStore(path, new_id=lambda: next(names)) as store:
        parent = None
        for _ in ids:
            parent = store.create(parent)
        assert store.lineage(ids[-1]) == ids


@pytest.mark.exercise("3.3")
def test_an_unknown_session_has_no_lineage(chapter, store):
    store.create(messages=[USER])
    with pytest.raises(chapter.SessionStoreError):
        store.lineage("nowhere")
