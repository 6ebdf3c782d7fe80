"""One measurement in a process of its own: `python -m course.bench.worker JOB.json` writes the job's results.

It runs in the environment of the library that it measures, so it imports the standard library and that one.
"""

from __future__ import annotations

import gc
import importlib
import json
import statistics
import sys
import time
import tracemalloc
from pathlib import Path
from types import ModuleType
from typing import Any

from course.bench.histories import Message, generate, read_transcripts, stitched, tokens

MAX_KEEP = 10_000  # tokens that every subject is asked to keep, at most a quarter of the history
REPEATS = 5
BUDGET = 60.0  # seconds for the repeats of one cell


def history(job: dict[str, Any], size: int, seed: int) -> list[Message]:
    """The history of a job's shape."""
    if job["shape"] != "recorded":
        return generate(size, seed, several_turns=job["shape"] == "turns")
    return stitched(read_transcripts(Path(job["traces"])), size)


def measure(subject: ModuleType, messages: list[Message]) -> dict[str, Any]:
    """Seconds (the median), peak memory and tokens of one compression, and the result."""
    keep = keep_of(messages)
    native = subject.prepare(messages)
    times: list[float] = []
    result: Any = None
    while len(times) < REPEATS and sum(times) < BUDGET:
        gc.collect()
        begin = time.perf_counter()
        result = subject.run(native, keep)
        times.append(time.perf_counter() - begin)
    gc.collect()
    tracemalloc.start()
    subject.run(native, keep)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    after = subject.restore(result)
    return {"seconds": statistics.median(times), "peak_mb": peak / 1e6, **verdict(messages, after)}


def keep_of(messages: list[Message]) -> int:
    """The tokens that a subject is asked to keep of a history."""
    return min(MAX_KEEP, tokens(messages) // 4)


def verdict(before: list[Message], after: list[Message]) -> dict[str, Any]:
    """Tokens before and after, and the result, unless it is the history itself, which need not be judged again."""
    sizes = {"before": tokens(before), "after": tokens(after), "messages": len(after)}
    unchanged = len(after) == len(before) and sizes["after"] == sizes["before"]
    return {**sizes, "unchanged": unchanged, "result": None if unchanged else after}


def many(subject: ModuleType, job: dict[str, Any]) -> list[dict[str, Any]]:
    """What becomes of many small histories: seeded ones, or each recorded transcript as it is."""
    if job["shape"] == "recorded":
        histories = read_transcripts(Path(job["traces"]))
    else:
        histories = [history(job, 20 + seed * 7 % 140, 5_000 + seed) for seed in range(job["many"])]
    return [_tried(subject, messages) for messages in histories]


def _tried(subject: ModuleType, messages: list[Message]) -> dict[str, Any]:
    """The verdict on one history; what a subject raises is one too."""
    try:
        return verdict(messages, subject.restore(subject.run(subject.prepare(messages), keep_of(messages))))
    except Exception as error:  # a library that cannot take the history: counted, not hidden
        return {"error": f"{type(error).__name__}: {error}"[:200]}


def work(job: dict[str, Any]) -> Any:
    """The results of a job."""
    subject = importlib.import_module(f"course.bench.subject_{job['subject']}")
    if "many" in job:
        return many(subject, job)
    return measure(subject, history(job, job["size"], 7))


if __name__ == "__main__":
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path(given["out"]).write_text(json.dumps(work(given)), encoding="utf-8")
