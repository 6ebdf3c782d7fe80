"""The session comes first and the root last. The messages of a lineage are read in this order, so the oldest
belongs first.
"""

FAILS = "test_the_lineage_goes_from_the_root_to_the_session"


class SessionStore:
    def lineage(self, session_id):
        ids, current = [], session_id
        while current is not None:
            ids.append(current)
            current = self._session(current)[1]
        return ids
