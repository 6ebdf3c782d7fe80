"""Arguments that cannot be read are taken for no arguments, and the tool runs with its defaults: what the model
meant is not known. Return an error text instead of `or {}`.
"""

FAILS = "test_every_failure_is_a_result_that_says_so"


class ToolRegistry:
    def dispatch(self, call):
        name, raw = call["function"]["name"], call["function"]["arguments"]
        tool, arguments = self.get(name), parse_arguments(raw) or {}
        if tool is None:
            return f"error: there is no tool {name!r}; available: {', '.join(self._tools) or 'none'}"
        if UNPARSED in arguments:
            return f"error: the arguments of {name} are not a JSON object: {str(raw)[:200]}"
        try:
            return str(tool.run(**arguments))
        except Exception as error:
            return f"error: {name} failed: {type(error).__name__}: {error}"
