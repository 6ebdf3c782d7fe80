"""The positions begin at 0 again, where the session's first messages are already. The first new position is one
more than the last that is there.
"""

FAILS = "test_new_messages_stand_behind_those_that_are_there"


class SessionStore:
    def append(self, session_id, messages, *, state=None, turn=None):
        new = list(messages)
        with self._file.transaction() as db:
            self._session(session_id)
            db.executemany(INSERT_MESSAGE, _rows(session_id, 0, new, carried=False))
            db.execute(MARK, (_dump(state), turn, session_id))
