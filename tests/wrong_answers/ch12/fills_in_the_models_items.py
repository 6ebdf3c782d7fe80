"""Ids and statuses are written into the items that came in. They belong to the call in the history: build new
dicts.
"""

FAILS = "test_todo_write"


def todo_write(state, items):
    if not isinstance(items, Sequence) or isinstance(items, str) or len(items) > MAX_TODOS:
        return f"error: items must be a list of at most {MAX_TODOS} items"
    entries = [item if isinstance(item, dict) else {"subject": item} for item in items]
    taken = {str(entry["id"]) for entry in entries if entry.get("id")}
    if len(taken) < sum(bool(entry.get("id")) for entry in entries):
        return "error: an id stands twice; every item needs an id of its own"
    free = (name for n in range(1, 2 * MAX_TODOS + 1) if (name := f"t{n}") not in taken)
    for entry in entries:
        if not _one_line(entry.get("subject")) or (entry.get("status") or "pending") not in STATUSES:
            return f"error: an item needs a subject and a status of {', '.join(STATUS_MARKS)}"
    for entry in entries:
        entry["subject"] = _one_line(entry["subject"])
        entry["status"] = entry.get("status") or "pending"
        entry["id"] = str(entry.get("id") or next(free))
    state.todos = entries
    return f"{len(entries)} items written"
