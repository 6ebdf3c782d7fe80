"""The rows are counted to find the next position, and when one is missing that position is taken. Use
`max(position)`.
"""

FAILS = "test_a_row_that_is_missing_leaves_a_gap"


class SessionStore:
    def append(self, session_id, messages, *, state=None, turn=None):
        new = list(messages)
        with self._file.transaction() as db:
            self._session(session_id)
            count = db.execute("SELECT count(*) FROM messages WHERE session = ?", (session_id,)).fetchone()[0]
            db.executemany(INSERT_MESSAGE, _rows(session_id, count, new, carried=False))
            db.execute(MARK, (_dump(state), turn, session_id))
