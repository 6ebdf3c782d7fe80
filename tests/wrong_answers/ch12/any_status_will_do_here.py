"""The item takes any status, "done" too, and rendering it fails later, in the middle of a request. Look at
STATUS_MARKS first.
"""

FAILS = "test_todo_update"


def todo_update(state, id, status):
    for todo in state.todos:
        if todo["id"] == id:
            todo["status"] = status
            return f"{id} is {status}"
    return f"error: there is no item {id!r}; the ids are {', '.join(todo['id'] for todo in state.todos) or 'none'}"
