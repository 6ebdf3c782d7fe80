"""Without a goal nothing is rendered, although there are items. Nothing recorded means neither a goal nor an item;
a missing goal is "(not set)".
"""

FAILS = "test_the_state_as_text"


class TaskState:
    def render(self):
        if not self.goal:
            return ""
        lines = ["# Task State (live, never compressed)", "## Goal", self.goal, "## TODO"]
        lines += [f"{STATUS_MARKS[todo['status']]} ({todo['id']}) {todo['subject']}" for todo in self.todos]
        return "\n".join(lines)
