"""The list is emptied, or filled, before everything was looked at, so an error leaves half a list. Build the new
list first, and put it into the state at the end.
"""

FAILS = "test_todo_write_refuses_and_changes_nothing"


def todo_write(state, items):
    if not isinstance(items, Sequence) or isinstance(items, str) or len(items) > MAX_TODOS:
        return f"error: items must be a list of at most {MAX_TODOS} items"
    entries = [item if isinstance(item, dict) else {"subject": item} for item in items]
    taken = {str(entry["id"]) for entry in entries if entry.get("id")}
    if len(taken) < sum(bool(entry.get("id")) for entry in entries):
        return "error: an id stands twice; every item needs an id of its own"
    free = (name for n in range(1, 2 * MAX_TODOS + 1) if (name := f"t{n}") not in taken)
    state.todos = []
    for entry in entries:
        subject, status = _one_line(entry.get("subject")), entry.get("status") or "pending"
        if not subject or status not in STATUSES:
            return f"error: an item needs a subject and a status of {', '.join(STATUS_MARKS)}"
        state.todos.append({"id": str(entry.get("id") or next(free)), "subject": subject, "status": status})
    return f"{len(state.todos)} items written"
