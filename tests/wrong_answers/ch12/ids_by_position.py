"""A missing id is made from the item's position, also when that id is taken by another item. Use the next one that
is free.
"""

FAILS = "test_todo_write"


def todo_write(state, items):
    if not isinstance(items, Sequence) or isinstance(items, str) or len(items) > MAX_TODOS:
        return f"error: items must be a list of at most {MAX_TODOS} items"
    entries = [item if isinstance(item, dict) else {"subject": item} for item in items]
    taken = {str(entry["id"]) for entry in entries if entry.get("id")}
    if len(taken) < sum(bool(entry.get("id")) for entry in entries):
        return "error: an id stands twice; every item needs an id of its own"
    todos = []
    for number, entry in enumerate(entries, 1):
        subject, status = _one_line(entry.get("subject")), entry.get("status") or "pending"
        if not subject or status not in STATUSES:
            return f"error: an item needs a subject and a status of {', '.join(STATUS_MARKS)}"
        todos.append({"id": str(entry.get("id") or f"t{number}"), "subject": subject, "status": status})
    state.todos = todos
    return f"{len(todos)} items written"
