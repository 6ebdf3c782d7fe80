"""The arguments go to the function unseen, and a wrong or missing one is a TypeError that ends the turn. Compare them with
the tool's properties, and answer with an error text: the model calls again.
"""

FAILS = "test_a_task_tool_is_called_with_its_arguments_or_an_error_text"


class TaskAgent:
    def _task_call(self, name, arguments):
        run = TASK_TOOLS[name][0]
        return run(self.state, **(arguments or {}))
