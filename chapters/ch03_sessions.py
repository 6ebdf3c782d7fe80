"""Chapter 3 · Sessions: every message on disk, one transaction a turn, children that know their parent.

A process dies, a lid closes, a window is compressed: none of that may cost a message. The store only ever adds. When
the list of messages is compressed, a child session begins with the compressed list, its *carried* rows, and the parent
keeps what was there. So the current list and the full history can both be read back.

    session A   s  u  a  t  a  t            load(A) = all of A            (parent of B)
    session B  [s  summary  u]  a  t  a     load(B) = carried + new       history(B) = new of A, then new of B
                carried, not new   new      lineage(B) = [A, B]           a search reads new rows only

One SQLite file in WAL mode: readers do not wait for the writer, and a transaction is there as a whole or not at all.
"""

from __future__ import annotations

import json
import unicodedata
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from reference.ch02_tools import ToolAgent
from reference.database import Database, SessionStoreError
from reference.messages import Message, as_text, clean_content, clean_text, parse_arguments, text_of

Fields = dict[str, Any] | None

SCHEMA_VERSION = 1
SCHEMA = """
CREATE TABLE IF NOT EXISTS sessions (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent TEXT, state BLOB, meta BLOB,
    turn TEXT CHECK (turn IN ('open', 'done')));
CREATE TABLE IF NOT EXISTS messages (
    number INTEGER PRIMARY KEY, session TEXT NOT NULL, position INTEGER NOT NULL, carried INTEGER NOT NULL,
    role TEXT NOT NULL, body BLOB NOT NULL, text TEXT, UNIQUE (session, position));
CREATE VIRTUAL TABLE IF NOT EXISTS words USING fts5 (text, content = 'messages', content_rowid = 'number');
CREATE TRIGGER IF NOT EXISTS index_new AFTER INSERT ON messages WHEN new.text IS NOT NULL BEGIN
    INSERT INTO words (rowid, text) VALUES (new.number, new.text);
END;
"""
INSERT_MESSAGE = "INSERT INTO messages (session, position, carried, role, body, text) VALUES (?, ?, ?, ?, ?, ?)"
# A child goes on where its parent stood: what it is not given, it has from there.
INSERT_SESSION = """INSERT INTO sessions (id, parent, state, meta, turn)
    SELECT ?1, ?2, coalesce(?3, p.state), coalesce(?4, p.meta), coalesce(?5, p.turn)
    FROM (SELECT 1) LEFT JOIN sessions AS p ON p.id = ?2"""
MARK = "UPDATE sessions SET state = coalesce(?, state), turn = coalesce(?, turn) WHERE id = ?"
LATEST = """SELECT id FROM sessions WHERE id NOT IN (SELECT parent FROM sessions WHERE parent IS NOT NULL)
    ORDER BY number DESC LIMIT 1"""
IN_LINEAGE = "(?2 IS NULL OR m.session IN (SELECT value FROM json_each(?2)))"  # ?2: a JSON list of ids, or NULL for all
HISTORY = f"SELECT session, position, body FROM messages AS m WHERE carried = ?1 AND {IN_LINEAGE} ORDER BY m.number"
FOUND = "SELECT m.session, m.position, m.role, m.text FROM messages AS m"
INDEXED = f"""{FOUND} JOIN words ON words.rowid = m.number
    WHERE words MATCH ?1 AND {IN_LINEAGE} ORDER BY words.rank, m.number DESC LIMIT ?3"""
SCANNED = f"""{FOUND} WHERE m.text IS NOT NULL AND {IN_LINEAGE} AND NOT EXISTS (
    SELECT 1 FROM json_each(?1) AS word WHERE instr(lower(m.text), lower(word.value)) = 0)
    ORDER BY m.number DESC LIMIT ?3"""
MAX_QUERY = 1_000  # characters of a query that are looked at


class SessionStore:
    """Sessions, their messages and their state in one SQLite file, for several threads and processes at once.

    `timeout` is seconds to wait for another process, `new_id` makes the ids. `problems` names the damaged rows that
    were left out while the rest was read.
    """

    def __init__(
        self, path: str | Path, *, timeout: float = 5.0, new_id: Callable[[], str] = lambda: uuid.uuid4().hex
    ) -> None:
        self.path, self.new_id = Path(path), new_id
        self.problems: list[str] = []
        self._file = Database(path, SCHEMA, SCHEMA_VERSION, timeout)

    def __enter__(self) -> SessionStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; the store opens it again when it is used again."""
        self._file.close()

    def create(
        self,
        parent_session_id: str | None = None,
        messages: Iterable[Message] = (),
        state: Fields = None,
        meta: Fields = None,
        turn: str | None = None,
    ) -> str:
        """The id of a new session, stored in one transaction with the messages that it begins with and `turn`'s mark.

        With a parent, `messages` is the compressed list: carried, no new history. A child goes on where its parent
        stood: state and meta that are None are the parent's, and an open turn of the parent is now the child's.
        """
        session_id, begin = self.new_id(), list(messages)
        with self._file.transaction() as db:
            if parent_session_id is not None:
                self._session(parent_session_id)
            db.execute(INSERT_SESSION, (session_id, parent_session_id, _dump(state), _dump(meta), turn))
            db.execute("UPDATE sessions SET turn = 'done' WHERE id = ? AND turn = 'open'", (parent_session_id,))
            db.executemany(INSERT_MESSAGE, _rows(session_id, 0, begin, carried=parent_session_id is not None))
        return session_id

    def append(
        self, session_id: str, messages: Iterable[Message], *, state: Fields = None, turn: str | None = None
    ) -> None:
        """Add new messages behind those of the session, and set its state and its turn's mark, in one transaction.

        `state` None leaves the stored state, `turn` None the mark; `turn` is "open" (begun) or "done" (ended). When
        anything fails, all is as it was, and SessionStoreError says why. The messages are not changed.

        Example: a session of 3 messages; append(id, [call, result], turn="open") stores positions 3 and 4 and the mark.
        """
        raise NotImplementedError("exercise 3.1: In one transaction, insert the `_rows` behind those that are there, and `MARK` the session.")

    def load(self, session_id: str) -> list[Message]:
        """The list that was current when the session was last saved: what it began with and what was appended.

        Equal to what was stored, key for key. A damaged row is left out and named in `problems`. An id that is not in
        the store raises SessionStoreError: it is no empty conversation.

        Example: create(messages=[s, u]), then append(id, [a]): load(id) == [s, u, a].
        """
        raise NotImplementedError("exercise 3.2: Read the session's rows in their order, return them `_decoded`; an unknown id raises.")

    def state(self, session_id: str) -> Fields:
        """The state that was stored last, or None."""
        return self._decode(f"session {session_id}, state", self._session(session_id)[2])

    def meta(self, session_id: str) -> dict[str, Any]:
        """What the session was created with beside messages and state, or {}."""
        return self._decode(f"session {session_id}, meta", self._session(session_id)[3]) or {}

    def is_unfinished(self, session_id: str) -> bool:
        """Whether the last turn was begun and never ended: the process died, or it still runs."""
        return self._session(session_id)[4] == "open"

    def latest(self) -> str | None:
        """The id of the newest session that has no child, or None in an empty store."""
        rows = self._file.read(LATEST)
        return rows[0][0] if rows else None

    def lineage(self, session_id: str) -> list[str]:
        """The ids from the root to this session. An id that is not in the store raises SessionStoreError.

        Example: B is a child of A and C of B: lineage(C) == [A, B, C], lineage(A) == [A].
        """
        raise NotImplementedError("exercise 3.3: Follow the parents from this session to the root; return their ids, the root first.")

    def history(self, session_id: str) -> list[Message]:
        """Every message that was ever new in this lineage, in the order in which they came, none twice."""
        return self._decoded(self._file.read(HISTORY, (False, json.dumps(self.lineage(session_id)))))

    def search(self, query: str, limit: int = 10, *, session_id: str | None = None) -> list[dict[str, Any]]:
        """The messages with all words of `query`: {"session_id", "position", "role", "snippet"} each, the best first.

        Text and tool arguments of all sessions are searched, or of one session's lineage; `position` is the place in
        `load(session_id)`. Words are taken literally, so no query is wrong. Where the index finds nothing, or words
        have no spaces between them, all text is scanned for the words as parts, the newest message first.
        """
        words = clean_text(query[:MAX_QUERY]).split()
        if not words or limit < 1:
            return []
        scope = None if session_id is None else json.dumps(self.lineage(session_id))
        # The index knows words by the spaces around them; letters of category Lo (文, ก, 한) often come without.
        spaced = not any(unicodedata.category(letter) == "Lo" for letter in query)
        # In quotes `AND`, `*` and `foo-bar` are text, not syntax.
        phrases = " ".join('"' + word.replace('"', '""') + '"' for word in words)
        rows = self._file.read(INDEXED, (phrases, scope, limit)) if spaced else []
        rows = rows or self._file.read(SCANNED, (json.dumps(words), scope, limit))
        return [
            {"session_id": session, "position": position, "role": role, "snippet": _snippet(text, words)}
            for session, position, role, text in rows
        ]

    def _session(self, session_id: str) -> tuple[Any, ...]:
        """(id, parent, state, meta, turn) of a session; SessionStoreError when there is none."""
        rows = self._file.read("SELECT id, parent, state, meta, turn FROM sessions WHERE id = ?", (session_id,))
        if not rows:
            raise SessionStoreError(f"{self.path}: there is no session {session_id!r}; the newest is {self.latest()!r}")
        return rows[0]

    def _decoded(self, rows: Iterable[tuple[str, int, bytes]]) -> list[Message]:
        """The messages of (session, position, body) rows, without the damaged ones."""
        found = (self._decode(f"session {session}, message {position}", body) for session, position, body in rows)
        return [message for message in found if message is not None]

    def _decode(self, what: str, stored: Any) -> Fields:
        """The stored dict, or None; a damaged one is reported."""
        if stored is None:
            return None
        try:
            value = json.loads(stored.decode("utf-8", "surrogatepass") if isinstance(stored, bytes) else stored)
        except (TypeError, ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            return value
        problem = f"{self.path}: {what}: damaged and left out; the rest was read"
        if problem not in self.problems:
            self.problems.append(problem)
        return None


def _dump(value: Fields) -> bytes | None:
    """`value` as JSON in bytes, or None.

    Bytes, since SQLite's text takes no lone surrogate. Unescaped, since two escaped halves would be read as one
    character.
    """
    try:
        return None if value is None else json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        raise SessionStoreError(f"not stored, since it has no JSON form: {error}") from error


def _rows(session_id: str, start: int, messages: list[Message], *, carried: bool) -> Iterator[tuple[Any, ...]]:
    """The row of each message, from position `start`; carried ones have no text, so that a search finds none twice."""
    for position, message in enumerate(messages, start):
        body, role = _dump(message), clean_text(as_text(message.get("role") or ""))
        yield session_id, position, carried, role, body, None if carried else _searchable(message)


def _searchable(message: Message) -> str:
    """The text of a message that a search reads: content, refusal, and each call's name and arguments."""
    calls = message.get("tool_calls")
    parts = [text_of(clean_content(message.get("content"), none_allowed=True)), as_text(message.get("refusal") or "")]
    for call in calls if isinstance(calls, list) else ():
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            raw = function.get("arguments")  # parsed, so that escaped letters are found
            parts += [as_text(function.get("name") or ""), as_text(parse_arguments(raw) or raw or "")]
    return clean_text("\n".join(filter(None, parts)))


def _snippet(text: str, words: list[str], before: int = 60, length: int = 200) -> str:
    """Up to `length` characters of `text` around the first of the words, on one line."""
    folded = text.casefold()
    places = [place for word in words if (place := folded.find(word.casefold())) >= 0]
    start = max(0, min(places, default=0) - before)
    end = start + length
    return ("…" if start else "") + " ".join(text[start:end].split()) + ("…" if end < len(text) else "")


class SessionAgent(ToolAgent):
    """An agent whose conversation is in the store before anybody hears of it; without a store nothing is kept.

    A turn is open from its first message to its end. What a crash leaves open is marked as unfinished, and `resume`
    goes on from there.
    """

    def __init__(
        self, *args: Any, store: SessionStore | None = None, session_id: str | None = None, **settings: Any
    ) -> None:
        super().__init__(*args, **settings)
        self.store, self.session_id = store, session_id

    def run(self, messages: Iterable[Message]) -> dict[str, Any]:
        """What `run_conversation` returns; every message is stored as it comes, and the turn is closed at the end.

        An agent that has a `session_id` goes on with that session: of the messages only the last is new.
        """
        messages = list(messages)
        if self.store is not None and self.session_id is None:
            self.session_id = self.store.create(None, messages, self.session_state(), turn="open")
        else:
            self.keep(messages[-1:], turn="open")
        if self.session_id is not None:
            self.on_event("session", session_id=self.session_id, parent=None)
        for message in messages[-1:]:
            self.on_event(str(message.get("role")), message=message)
        outcome = super().run(messages)
        self.keep([], turn="done")
        return outcome

    def resume(self, request: str) -> dict[str, Any]:
        """What `run_conversation` returns, for the stored session continued with one more request of the user."""
        if self.store is None or self.session_id is None:
            raise ValueError("there is no session to resume: give the agent a store and a session_id")
        self.restore_state(self.store.state(self.session_id))
        return self.run([*self.store.load(self.session_id), {"role": "user", "content": request}])

    def remember(self, messages: Sequence[Message]) -> None:
        """Store new messages with the state of this moment, then append them to the history."""
        self.keep(messages)
        super().remember(messages)

    def keep(self, messages: Sequence[Message], turn: str | None = None) -> None:
        """Store messages in one transaction, where there is a store."""
        if self.store is not None and self.session_id is not None:
            self.store.append(self.session_id, messages, state=self.session_state(), turn=turn)

    def replace(self, messages: list[Message]) -> None:
        """Go on with another list: a child session begins with it, and the old session stays as it is."""
        if self.store is not None and self.session_id is not None:
            parent = self.session_id
            self.session_id = self.store.create(parent, messages, self.session_state())
            self.on_event("session", session_id=self.session_id, parent=parent)
        self.messages = messages

    def session_state(self) -> dict[str, Any] | None:
        """What is stored beside the messages; chapter 12 stores the task state."""
        return None

    def restore_state(self, state: dict[str, Any] | None) -> None:
        """Take a stored state up again."""
