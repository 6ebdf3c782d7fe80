"""Arguments that the tool does not know are dropped without a word, and the model believes they took effect. Say what was
found and what the tool takes.
"""

FAILS = "test_a_task_tool_is_called_with_its_arguments_or_an_error_text"


class TaskAgent:
    def _task_call(self, name, arguments):
        run, _, properties = TASK_TOOLS[name]
        given = {key: value for key, value in (arguments or {}).items() if key in properties}
        if given.keys() != properties.keys():
            return f"error: {name} takes {', '.join(properties)}; found {', '.join(arguments or {}) or 'nothing'}"
        return run(self.state, **given)
