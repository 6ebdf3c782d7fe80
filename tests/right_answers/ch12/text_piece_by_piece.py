class TaskState:
    def render(self):
        if self.goal == "" and len(self.todos) == 0:
            return ""
        text = "# Task State (live, never compressed)\n## Goal\n"
        text += self.goal if self.goal else "(not set)"
        text += "\n## TODO"
        for todo in self.todos:
            text += "\n" + STATUS_MARKS[todo["status"]] + " (" + todo["id"] + ") " + todo["subject"]
        return text
