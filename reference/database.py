"""One SQLite file: opened on first use, checked, written in transactions, its faults said in one sentence.

WAL mode: readers do not wait for the writer, and a transaction is there as a whole or not at all.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ATTEMPTS = 4  # each waits for the busy timeout, but SQLite refuses without waiting where two could wait for each other
WHAT_TO_DO = {
    sqlite3.SQLITE_BUSY: "another program keeps it locked: close that program, or try again",
    sqlite3.SQLITE_FULL: "the disk is full, and this step was not stored: free some space and try again",
    sqlite3.SQLITE_READONLY: "it cannot be written: make the file and its folder writable, or choose another place",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: the folder must exist and be writable, and the path name a file",
    sqlite3.SQLITE_NOTADB: "it is not a session store: choose another file",
    sqlite3.SQLITE_CORRUPT: "it is damaged: keep a copy, and save what can be read with `sqlite3 FILE .recover`",
    sqlite3.SQLITE_CONSTRAINT: "a value is not allowed: an id must be new, a turn 'open' or 'done'",
}


class SessionStoreError(RuntimeError):
    """The store could not be read or written; says which file, what was found and what to do."""


class Database:
    """One SQLite file, made or checked on first use: `read`, and `transaction` for all that changes it.

    Threads share one connection behind a lock: SQLite has one writer at a time anyway, and one connection is one to
    close. Other processes may use the same file; `timeout` is seconds to wait for them. Closed, it opens on next use.
    """

    def __init__(self, path: str | Path, schema: str, version: int, timeout: float) -> None:
        self.path, self.schema, self.version, self.timeout = Path(path), schema, version, timeout
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def read(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        with self._open() as db:
            return _patiently(lambda: db.execute(sql, values).fetchall())

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """The connection inside a transaction: kept at the end, undone when anything is raised."""
        with self._open() as db, db:
            # IMMEDIATE: the lock is taken before the first read, so that no other writer comes in between.
            _patiently(lambda: db.execute("BEGIN IMMEDIATE"))
            yield db

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        """The connection, for this thread alone; what SQLite reports is raised as SessionStoreError."""
        with self._lock:
            try:
                self._connection = self._connection or self._connect()
                yield self._connection
            except (sqlite3.Error, UnicodeError) as error:
                advice = WHAT_TO_DO.get(_kind(error), "the step failed and changed nothing")
                raise SessionStoreError(f"{self.path}: {advice} (SQLite: {error})") from error

    def _connect(self) -> sqlite3.Connection:
        """A connection to the file; one that holds something else is refused before it is touched."""
        db = sqlite3.connect(self.path, timeout=self.timeout, isolation_level=None, check_same_thread=False)
        try:
            look = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
            found, tables = _patiently(lambda: db.execute(look).fetchone())
            if found != self.version and (found or tables):
                advice = "choose another file, or the program that wrote it"
                raise SessionStoreError(f"{self.path}: its schema is version {found}, not {self.version}: {advice}")
            _patiently(lambda: db.execute("PRAGMA journal_mode = WAL"))
            db.execute("PRAGMA synchronous = FULL")  # what was stored outlives a power cut too
            db.text_factory = lambda raw: raw.decode("utf-8", "replace")  # a damaged row must not hide the others
            if not found:
                make = f"BEGIN IMMEDIATE; {self.schema} PRAGMA user_version = {self.version}; COMMIT;"
                _patiently(lambda: db.executescript(make))
        except BaseException:
            db.close()
            raise
        return db


def _patiently(step: Callable[[], Any]) -> Any:
    """What `step` returns, tried again a few times while another program holds the lock."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return step()
        except sqlite3.OperationalError as error:
            if _kind(error) != sqlite3.SQLITE_BUSY or attempt == ATTEMPTS:
                raise
            time.sleep(0.02 * attempt)
    return None


def _kind(error: Exception) -> int:
    """SQLite's number for the kind of an error, without the details in its higher bytes; 0 when it gave none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF
