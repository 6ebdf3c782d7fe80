class SessionStore:
    def lineage(self, session_id):
        row = self._session(session_id)
        ids = [row[0]]
        while row[1]:
            row = self._session(row[1])
            ids = [row[0], *ids]
        return ids
