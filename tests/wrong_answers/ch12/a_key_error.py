"""An id that is not there raises an error and ends the agent. Return an error text that names the ids there are:
the model corrects itself.
"""

FAILS = "test_todo_update"


def todo_update(state, id, status):
    if status not in STATUSES:
        return f"error: unknown status {status!r}; use {', '.join(STATUS_MARKS)}"
    by_id = {todo["id"]: todo for todo in state.todos}
    by_id[id]["status"] = status
    return f"{id} is {status}"
