"""One strict judge for all results: invalid, empty or unchanged."""

from __future__ import annotations

from typing import Any

from course.provider.rules import violations

BAD = ("invalid", "empty", "unchanged", "error")


def judged(found: dict[str, Any]) -> str:
    """What a result is: "good", or "invalid", "empty", "unchanged", or "error" when there is none."""
    if "error" in found:
        return "error"
    if found["unchanged"]:
        return "unchanged"
    result = found["result"]
    if not any(message.get("role") not in ("system", "developer") for message in result):
        return "empty"
    return "invalid" if violations(result_on_wire(result)) else "good"


def result_on_wire(result: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The result as it would be sent: without keys that begin with an underscore."""
    return [{key: value for key, value in message.items() if not key.startswith("_")} for message in result]


def share(results: list[dict[str, Any]], what: str) -> float:
    """The share of results that are so judged."""
    return sum(judged(found) == what for found in results) / max(1, len(results))
