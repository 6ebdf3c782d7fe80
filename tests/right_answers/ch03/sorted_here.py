class SessionStore:
    def load(self, session_id):
        known = self._session(session_id)[0]
        found = self._file.read("SELECT session, position, body FROM messages WHERE session = :id", {"id": known})
        return self._decoded(sorted(found, key=lambda row: row[1]))
