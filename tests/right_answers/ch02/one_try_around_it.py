class ToolRegistry:
    def dispatch(self, call):
        function = call["function"]
        name = function["name"]
        if name not in self._tools:
            known = ", ".join(tool.name for tool in self)
            return "error: there is no tool " + repr(name) + "; available: " + (known if known else "none")
        arguments = parse_arguments(function["arguments"])
        if not isinstance(arguments, dict) or UNPARSED in arguments:
            return "error: the arguments of " + name + " are not a JSON object: " + str(function["arguments"])[:200]
        try:
            result = self._tools[name].run(**arguments)
        except Exception as problem:
            result = f"error: {name} failed: {problem.__class__.__name__}: {problem}"
        return f"{result}"
