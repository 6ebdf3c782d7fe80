"""The results stand in the order in which the calls finished. They belong in the order of the calls: `pool.map`
keeps it, `as_completed` does not.
"""

FAILS = "test_results_stand_in_the_order_of_the_calls"


def run_tool_calls(calls, run_call, *, parallel=True):
    if not parallel or len(calls) < 2:
        return [tool_message(call, run_call(call)) for call in calls]
    finished = []
    with ToolThreads(max_workers=min(MAX_WORKERS, len(calls))) as pool:
        for call in calls:
            pool.submit(run_call, call).add_done_callback(lambda done, call=call: finished.append(tool_message(call, done.result())))
    return finished
