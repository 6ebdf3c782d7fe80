"""The tool's result goes on as it is, a number or None, but the content of a tool message is a text. Return
`str(...)` of it.
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
        try:
            return tool.run(**arguments)
        except Exception as error:
            return f"error: {name} failed: {type(error).__name__}: {error}"
