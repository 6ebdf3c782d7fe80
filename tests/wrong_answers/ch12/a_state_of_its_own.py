"""The tool runs on a state that is made for this one call and then forgotten: it says that it wrote the list, and the next
prompt shows none. Use `self.state`.
"""

FAILS = "test_a_task_tool_acts_on_the_agents_own_state"


class TaskAgent:
    def _task_call(self, name, arguments):
        run, _, properties = TASK_TOOLS[name]
        if arguments is None or UNPARSED in arguments or arguments.keys() != properties.keys():
            return f"error: {name} takes {', '.join(properties)}; found {', '.join(arguments or {}) or 'nothing'}"
        return run(TaskState(self.state.goal, [dict(todo) for todo in self.state.todos]), **arguments)
