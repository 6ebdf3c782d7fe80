"""Every item gets the new status, not only the one that is named. Compare the ids."""

FAILS = "test_todo_update"


def todo_update(state, id, status):
    if status not in STATUSES:
        return f"error: unknown status {status!r}; use {', '.join(STATUS_MARKS)}"
    if id not in [todo["id"] for todo in state.todos]:
        return f"error: there is no item {id!r}; the ids are {', '.join(todo['id'] for todo in state.todos) or 'none'}"
    for todo in state.todos:
        todo["status"] = status
    return f"{id} is {status}"
