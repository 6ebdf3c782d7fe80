"""A state of None wipes out the stored one, and every message that comes without a state loses it. Use MARK, which
leaves what is stored.
"""

FAILS = "test_state_and_turn_are_stored_with_the_messages"


class SessionStore:
    def append(self, session_id, messages, *, state=None, turn=None):
        new = list(messages)
        with self._file.transaction() as db:
            self._session(session_id)
            last = db.execute("SELECT max(position) FROM messages WHERE session = ?", (session_id,)).fetchone()[0]
            start = 0 if last is None else last + 1
            db.executemany(INSERT_MESSAGE, _rows(session_id, start, new, carried=False))
            db.execute("UPDATE sessions SET state = ?, turn = ? WHERE id = ?", (_dump(state), turn, session_id))
