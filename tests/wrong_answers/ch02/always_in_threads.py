"""The calls go to threads even without `parallel`, or when there is only one. A tool whose order matters must run
here, in the caller's thread.
"""

FAILS = "test_each_call_gets_its_own_result"


def run_tool_calls(calls, run_call, *, parallel=True):
    if not calls:
        return []
    with ToolThreads(max_workers=min(MAX_WORKERS, len(calls))) as pool:
        return [tool_message(call, result) for call, result in zip(calls, pool.map(run_call, calls), strict=True)]
