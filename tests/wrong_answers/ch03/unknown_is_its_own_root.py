"""An id that is not in the store is taken for a root without parents. `self._session(session_id)` raises for it."""

FAILS = "test_an_unknown_session_has_no_lineage"


class SessionStore:
    def lineage(self, session_id):
        parents = dict(self._file.read("SELECT id, parent FROM sessions"))
        ids, current = [], session_id
        while current is not None:
            ids.insert(0, current)
            current = parents.get(current)
        return ids
