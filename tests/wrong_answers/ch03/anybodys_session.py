"""Messages for a session that is not there are stored all the same, and nobody finds them again.
`self._session(session_id)` raises for such an id.
"""

FAILS = "test_nothing_is_appended_to_a_session_that_is_not_there"


class SessionStore:
    def append(self, session_id, messages, *, state=None, turn=None):
        new = list(messages)
        with self._file.transaction() as db:
            last = db.execute("SELECT max(position) FROM messages WHERE session = ?", (session_id,)).fetchone()[0]
            start = 0 if last is None else last + 1
            db.executemany(INSERT_MESSAGE, _rows(session_id, start, new, carried=False))
            db.execute(MARK, (_dump(state), turn, session_id))
