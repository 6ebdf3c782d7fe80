"""`json.loads` raises on arguments that were cut off, and the agent ends. `parse_arguments` gives None for them:
return an error text then.
"""

import json

FAILS = "test_every_failure_is_a_result_that_says_so"


class ToolRegistry:
    def dispatch(self, call):
        name, raw = call["function"]["name"], call["function"]["arguments"]
        tool = self.get(name)
        if tool is None:
            return f"error: there is no tool {name!r}; available: {', '.join(self._tools) or 'none'}"
        arguments = json.loads(raw)
        if not isinstance(arguments, dict) or UNPARSED in arguments:
            return f"error: the arguments of {name} are not a JSON object: {str(raw)[:200]}"
        try:
            return str(tool.run(**arguments))
        except Exception as error:
            return f"error: {name} failed: {type(error).__name__}: {error}"
