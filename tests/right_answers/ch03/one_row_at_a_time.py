class SessionStore:
    def append(self, session_id, messages, *, state=None, turn=None):
        packed = _dump(state)
        with self._file.transaction() as db:
            self._session(session_id)
            query = "SELECT coalesce(max(position), -1) + 1 FROM messages WHERE session = ?"
            (place,) = db.execute(query, (session_id,)).fetchone()
            for row in _rows(session_id, place, list(messages), carried=False):
                db.execute(INSERT_MESSAGE, row)
            db.execute(MARK, [packed, turn, session_id])
