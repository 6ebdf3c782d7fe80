"""Results are looked up by the call's id, and where two calls share an id both get the later result. Ids repeat in
real histories: pair by place.
"""

FAILS = "test_two_calls_with_one_id_keep_their_own_results"


def run_tool_calls(calls, run_call, *, parallel=True):
    if not parallel or len(calls) < 2:
        results = {call["id"]: run_call(call) for call in calls}
    else:
        with ToolThreads(max_workers=min(MAX_WORKERS, len(calls))) as pool:
            results = dict(zip([call["id"] for call in calls], pool.map(run_call, calls), strict=True))
    return [tool_message(call, results[call["id"]]) for call in calls]
