"""The carried rows are left out, and a child session has lost the summary that it began with. They are part of the
current list.
"""

FAILS = "test_a_child_begins_with_what_it_carries"


class SessionStore:
    def load(self, session_id):
        self._session(session_id)
        rows = "SELECT session, position, body FROM messages WHERE session = ? AND carried = 0 ORDER BY position"
        return self._decoded(self._file.read(rows, (session_id,)))
