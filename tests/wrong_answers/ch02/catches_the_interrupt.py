"""A bare `except` also catches Ctrl-C, so the user cannot stop the agent any more. Catch `Exception`."""

FAILS = "test_an_interrupt_passes_through"


class ToolRegistry:
    def dispatch(self, call):
        name, raw = call["function"]["name"], call["function"]["arguments"]
        tool, arguments = self.get(name), parse_arguments(raw)
        if tool is None:
            return f"error: there is no tool {name!r}; available: {', '.join(self._tools) or 'none'}"
        if arguments is None or UNPARSED in arguments:
            return f"error: the arguments of {name} are not a JSON object: {str(raw)[:200]}"
        try:
            return str(tool.run(**arguments))
        except BaseException as error:
            return f"error: {name} failed: {type(error).__name__}: {error}"
