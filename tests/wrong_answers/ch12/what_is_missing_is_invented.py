"""Missing arguments are filled in with empty ones, and the model is told of an error that it did not make. Say that they
are missing.
"""

FAILS = "test_a_task_tool_is_called_with_its_arguments_or_an_error_text"


class TaskAgent:
    def _task_call(self, name, arguments):
        run, _, properties = TASK_TOOLS[name]
        arguments = arguments or {}
        if not arguments.keys() <= properties.keys():
            return f"error: {name} takes {', '.join(properties)}; found {', '.join(arguments or {}) or 'nothing'}"
        return run(self.state, **(dict.fromkeys(properties, "") | arguments))
