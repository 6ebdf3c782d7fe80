"""Messages and state are stored in two transactions, and a crash between them keeps one without the other. Put all
of it into one `with` block.
"""

FAILS = "test_when_anything_fails_all_is_as_it_was"


class SessionStore:
    def append(self, session_id, messages, *, state=None, turn=None):
        new = list(messages)
        with self._file.transaction() as db:
            self._session(session_id)
            last = db.execute("SELECT max(position) FROM messages WHERE session = ?", (session_id,)).fetchone()[0]
            start = 0 if last is None else last + 1
            db.executemany(INSERT_MESSAGE, _rows(session_id, start, new, carried=False))
        with self._file.transaction() as db:
            db.execute(MARK, (_dump(state), turn, session_id))
