"""Every older session is taken into the lineage, also those of other conversations. Follow the parents of this one
session.
"""

FAILS = "test_the_lineage_goes_from_the_root_to_the_session"


class SessionStore:
    def lineage(self, session_id):
        self._session(session_id)
        older = """SELECT id FROM sessions WHERE number <= (SELECT number FROM sessions WHERE id = ?)
            ORDER BY number"""
        return [row[0] for row in self._file.read(older, (session_id,))]
