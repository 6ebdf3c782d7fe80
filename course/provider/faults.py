"""Faults on demand: what goes wrong in real providers, at the request where you want it.

    Fault("rate_limit", at=2)                           the second request: 429 with Retry-After
    Fault("server_error", every=3)                      requests 3, 6, 9 …: 500
    Fault("slow", seconds=2, model="sim-summarizer")    each request to that model is answered after two seconds

Requests are counted from 1, for each fault those that its `model` takes; every request with the right key and a known
model counts. A foreign client asks with the header `x-course-fault: rate_limit`, or `rate_limit=7` with a number of
seconds (Retry-After, or how slow).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

HEADER = "x-course-fault"

KINDS = {
    "rate_limit": "429 with Retry-After",
    "server_error": "500",
    "slow": "the answer comes `seconds` later",
    "drop": "the connection is closed without an answer",
    "empty": "an assistant message with no text and no calls",
    "length": "the answer is cut in half, finish_reason is length",
}


@dataclass(frozen=True)
class Fault:
    """A fault of one of `KINDS`: at the call numbers `at`, at `every` n-th call, or with neither at all of them."""

    kind: str
    at: int | Collection[int] | None = None
    every: int | None = None
    model: str | None = None
    retry_after: float = 1.0
    seconds: float = 1.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown fault {self.kind!r}: expected one of {', '.join(KINDS)}")
        if self.every is not None and self.every < 1:
            raise ValueError(f"every={self.every}: expected 1 or more")
        if self.retry_after < 0 or self.seconds < 0:
            raise ValueError("seconds and retry_after cannot be negative")

    def strikes(self, number: int) -> bool:
        """Whether the `number`-th call (from 1) is hit."""
        if self.at is None and self.every is None:
            return True
        at = (self.at,) if isinstance(self.at, int) else self.at or ()
        return number in at or (self.every is not None and number % self.every == 0)


class FaultPlan:
    """The faults of one provider, each with its own count of calls."""

    def __init__(self, faults: Iterable[Fault] = ()) -> None:
        self._faults = tuple(faults)
        self._calls = [0] * len(self._faults)

    def next(self, model: str) -> list[Fault]:
        """The faults that strike the next call to `model`, in the order in which they were given."""
        struck = []
        for index, fault in enumerate(self._faults):
            if fault.model in (None, model):
                self._calls[index] += 1
                if fault.strikes(self._calls[index]):
                    struck.append(fault)
        return struck


def parse_header(value: str) -> Fault:
    """The fault that `kind` or `kind=seconds` asks for; ValueError says what was expected."""
    kind, _, number = value.partition("=")
    try:
        seconds = float(number or 1)
    except ValueError:
        raise ValueError(f"{value!r}: expected a number of seconds behind '='") from None
    if not 0 <= seconds < 3_600:
        raise ValueError(f"{value!r}: expected 0 to 3600 seconds")
    return Fault(kind.strip(), retry_after=seconds, seconds=seconds)
