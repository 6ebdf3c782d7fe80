"""The calls run one after the other although `parallel` is set: three slow tools take three times as long. Use a
ThreadPoolExecutor.
"""

FAILS = "test_results_stand_in_the_order_of_the_calls"


def run_tool_calls(calls, run_call, *, parallel=True):
    return [tool_message(call, run_call(call)) for call in calls]
