"""The rows come in the order in which they were written. Only the position says where a message stands: `ORDER BY
position`.
"""

FAILS = "test_the_order_is_that_of_the_positions"


class SessionStore:
    def load(self, session_id):
        self._session(session_id)
        rows = "SELECT session, position, body FROM messages WHERE session = ? ORDER BY number"
        return self._decoded(self._file.read(rows, (session_id,)))
