def run_tool_calls(calls, run_call, *, parallel=True):
    answers = []
    if parallel and len(calls) > 1:
        pool = ThreadPoolExecutor(MAX_WORKERS)
        try:
            futures = [pool.submit(run_call, call) for call in calls]
            for call, future in zip(calls, futures, strict=True):
                answers.append(tool_message(call, future.result()))
        finally:
            pool.shutdown()
    else:
        for call in calls:
            answers.append(tool_message(call, run_call(call)))
    return answers
