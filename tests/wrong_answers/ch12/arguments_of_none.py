"""`arguments` is None where they were no JSON object, and None has no keys: an AttributeError ends the turn. Look for None
first.
"""

FAILS = "test_a_task_tool_is_called_with_its_arguments_or_an_error_text"


class TaskAgent:
    def _task_call(self, name, arguments):
        run, _, properties = TASK_TOOLS[name]
        if arguments.keys() != properties.keys():
            return f"error: {name} takes {', '.join(properties)}; found {', '.join(arguments or {}) or 'nothing'}"
        return run(self.state, **arguments)
