"""An item in progress looks like one that was never begun, and after a compression the model begins it again.
There are three marks: look them up in STATUS_MARKS.
"""

FAILS = "test_the_state_as_text"


class TaskState:
    def render(self):
        if not self.goal and not self.todos:
            return ""
        lines = ["# Task State (live, never compressed)", "## Goal", self.goal or "(not set)", "## TODO"]
        lines += [f"[{'x' if todo['status'] == 'completed' else ' '}] ({todo['id']}) {todo['subject']}" for todo in self.todos]
        return "\n".join(lines)
