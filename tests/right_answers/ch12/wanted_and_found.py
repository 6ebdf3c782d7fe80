class TaskAgent:
    def _task_call(self, name, arguments):
        function, properties = TASK_TOOLS[name][0], TASK_TOOLS[name][2]
        wanted, found = list(properties), list(arguments or [])
        if set(wanted) == set(found):
            return function(self.state, **arguments)
        shown = ", ".join(found) if found else "nothing"
        return "error: " + name + " takes " + ", ".join(wanted) + "; found " + shown
