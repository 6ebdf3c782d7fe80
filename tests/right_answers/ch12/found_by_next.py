def todo_update(state, id, status):
    known = [todo["id"] for todo in state.todos]
    if status not in list(STATUS_MARKS):
        return "error: unknown status " + repr(status) + "; use " + ", ".join(STATUS_MARKS)
    found = next((todo for todo in state.todos if todo["id"] == id), None)
    if found is None:
        return "error: there is no item " + repr(id) + "; the ids are " + (", ".join(known) if known else "none")
    found.update(status=status)
    return "{} is {}".format(found["id"], found["status"])
