"""One damaged row makes the whole conversation unreadable. `self._decoded` leaves such a row out and names it."""

FAILS = "test_a_damaged_row_is_left_out_and_named"


class SessionStore:
    def load(self, session_id):
        self._session(session_id)
        rows = "SELECT body FROM messages WHERE session = ? ORDER BY position"
        return [json.loads(body.decode("utf-8", "surrogatepass")) for (body,) in self._file.read(rows, (session_id,))]
