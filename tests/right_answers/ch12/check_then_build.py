def todo_write(state, items):
    if not isinstance(items, (list, tuple)) or len(items) > MAX_TODOS:
        return f"error: items must be a list of at most {MAX_TODOS} items"
    new, used = [], []
    for item in items:
        given = item if isinstance(item, dict) else {"subject": item}
        one = {
            "id": str(given["id"]) if given.get("id") else "",
            "subject": _one_line(given.get("subject")),
            "status": given.get("status") or "pending",
        }
        if one["subject"] == "" or one["status"] not in STATUSES:
            return "error: an item needs a subject and a status of pending, in_progress, completed"
        if one["id"]:
            if one["id"] in used:
                return "error: an id stands twice; every item needs an id of its own"
            used.append(one["id"])
        new.append(one)
    number = 0
    for one in new:
        while one["id"] == "":
            number += 1
            if f"t{number}" not in used:
                one["id"] = f"t{number}"
    state.todos = new
    return f"{len(new)} items written"
