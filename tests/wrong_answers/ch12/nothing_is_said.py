"""The item is changed and nothing comes back, but the model reads the result of its call. Return the line that
confirms it.
"""

FAILS = "test_todo_update"


def todo_update(state, id, status):
    if status not in STATUSES:
        return f"error: unknown status {status!r}; use {', '.join(STATUS_MARKS)}"
    for todo in state.todos:
        if todo["id"] == id:
            todo["status"] = status
            return None
    return f"error: there is no item {id!r}; the ids are {', '.join(todo['id'] for todo in state.todos) or 'none'}"
