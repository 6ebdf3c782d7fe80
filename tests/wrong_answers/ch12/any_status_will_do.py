"""Any status is taken, "done" too, and rendering it fails later, in the middle of a request. Refuse what is not in
STATUS_MARKS.
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
    todos = []
    for entry in entries:
        subject, status = _one_line(entry.get("subject")), entry.get("status") or "pending"
        if not subject:
            return f"error: an item needs a subject and a status of {', '.join(STATUS_MARKS)}"
        todos.append({"id": str(entry.get("id") or next(free)), "subject": subject, "status": status})
    state.todos = todos
    return f"{len(todos)} items written"
