"""An unknown id gives an empty list, and the agent begins anew as if nothing had been. Ask
`self._session(session_id)` first: it raises.
"""

FAILS = "test_an_unknown_session_is_no_empty_conversation"


class SessionStore:
    def load(self, session_id):
        rows = "SELECT session, position, body FROM messages WHERE session = ? ORDER BY position"
        return self._decoded(self._file.read(rows, (session_id,)))
