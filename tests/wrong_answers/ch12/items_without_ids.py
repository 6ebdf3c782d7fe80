"""The ids are missing, but the model needs them: todo_update takes an id. Write `(t1)` between mark and subject."""

FAILS = "test_the_state_as_text"


class TaskState:
    def render(self):
        if not self.goal and not self.todos:
            return ""
        lines = ["# Task State (live, never compressed)", "## Goal", self.goal or "(not set)", "## TODO"]
        lines += [f"{STATUS_MARKS[todo['status']]} {todo['subject']}" for todo in self.todos]
        return "\n".join(lines)
