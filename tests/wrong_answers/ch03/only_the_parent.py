"""Only the parent is found, but it may have a parent of its own: a long run is compressed more than once. Go on
until there is none.
"""

FAILS = "test_the_lineage_goes_from_the_root_to_the_session"


class SessionStore:
    def lineage(self, session_id):
        parent = self._session(session_id)[1]
        return [parent, session_id] if parent is not None else [session_id]
