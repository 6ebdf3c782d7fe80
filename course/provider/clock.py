"""The provider's clock: it stands still between requests, so that two runs give the same bytes."""

from __future__ import annotations

EPOCH = 1_735_689_600.0  # 2025-01-01, the day on which every run begins


class StepClock:
    """A clock that goes on by `step` seconds each time it is read; the first reading is `start` (Unix seconds)."""

    def __init__(self, start: float = EPOCH, step: float = 1.0) -> None:
        self.now = start - step
        self.step = step

    def __call__(self) -> float:
        """The time of the next request, in Unix seconds."""
        self.now += self.step
        return self.now
