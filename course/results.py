"""What a survey came to: the score of the report and the counts of the run, as an event's data and as a table."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from course.frame import Frame
from course.scenarios import Scenario
from course.scoring import score
from course.timeline import Timeline
from course.workspace import Workspace


def result_of(timeline: Timeline, workspace: Workspace, scenario: Scenario) -> dict[str, Any]:
    """The counts of a finished run: right, wrong, missing and doubled lines of the files that count, and the reads.

    After a change of mind only the files of the second request count, and reads of others after it are unasked.
    """
    scored = score(workspace.report, workspace)
    wanted = set(workspace.files_under(scenario.folder))
    paths = {
        "right": scored.right_paths,
        "wrong": scored.wrong_paths,
        "missing": scored.missing_paths,
        "doubled": scored.doubled_paths,
    }
    counts: dict[str, Any] = {name: len(wanted.intersection(found)) for name, found in paths.items()}
    counts |= {"files": len(wanted), "unknown": scored.unknown, "read": len(workspace.reads)}
    counts["read_twice"] = sum(count > 1 for count in workspace.reads.values())
    if scenario.change:
        counts["unasked_reads"] = sum(path not in wanted for path in _reads_after_change(timeline))
    return counts


def is_complete(result: dict[str, Any]) -> bool:
    """Whether every file that counts has one right line, and nothing else stands in the report."""
    return bool(result["right"] == result["files"] and not result["doubled"] and not result["unknown"])


def _reads_after_change(timeline: Timeline) -> list[str]:
    """The paths read after the user spoke for the second time."""
    spoken = [event.number for event in timeline.events if event.kind == "user"]
    reads = (e for e in timeline.events if e.kind == "tool_start" and e.data["tool"] == "read_file")
    return [event.data["arguments"].get("path", "") for event in reads if len(spoken) > 1 and event.number > spoken[1]]


def result_table(frame: Frame) -> Table:
    """The table at the end of a run, from the last frame alone, so that a replay shows the same."""
    result, count = frame.end["result"], frame.counters
    table = Table(title="What the survey came to", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    lines = ", ".join(f"{result[name]} {name}" for name in ("right", "wrong", "missing", "doubled"))
    rows = [
        ("text files", f"{result['files']:,}"),
        ("files read", f"{result['read']:,}"),
        ("files read twice or more", f"{result['read_twice']:,}"),
        ("report lines", lines + (f", {result['unknown']} about no file" if result["unknown"] else "")),
        ("model calls of the agent", f"{count.calls:,}"),
        ("compressions with a summary", f"{count.summaries:,}"),
        ("compressions by pruning alone", f"{count.prunings:,}"),
        ("model calls of the summariser", f"{count.summary_calls:,}"),
        ("prompt tokens sent by the agent", f"{count.prompt_tokens:,}"),
        ("of these cached", f"{count.cached_tokens / max(1, count.prompt_tokens):.0%}"),
        ("prompt tokens sent to the summariser", f"{count.summary_tokens:,}"),
        ("refused requests", f"{count.refused:,}"),
    ]
    if "unasked_reads" in result:
        rows.insert(3, ("files read that the new request does not ask for", f"{result['unasked_reads']:,}"))
    for row in rows:
        table.add_row(*row)
    return table
