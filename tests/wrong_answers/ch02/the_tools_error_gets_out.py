"""What the tool raises gets out of `dispatch` and ends the agent. Run the tool in `try`, and make the error a text
for the model.
"""

FAILS = "test_every_failure_is_a_result_that_says_so"


class ToolRegistry:
    def dispatch(self, call):
        name, raw = call["function"]["name"], call["function"]["arguments"]
        tool, arguments = self.get(name), parse_arguments(raw)
        if tool is None:
            return f"error: there is no tool {name!r}; available: {', '.join(self._tools) or 'none'}"
        if arguments is None or UNPARSED in arguments:
            return f"error: the arguments of {name} are not a JSON object: {str(raw)[:200]}"
        return str(tool.run(**arguments))
