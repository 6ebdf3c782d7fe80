"""The models that a provider serves, by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Answer = Callable[[dict[str, Any]], dict[str, Any]]


@dataclass(frozen=True)
class Model:
    """A model: its name, its window in tokens, and `answer`, which gives the assistant message for a request body.

    `answer` must not change the body. What it raises becomes a 500; it may take its time, other requests go on.
    """

    name: str
    context_length: int
    answer: Answer


def default_models() -> tuple[Model, ...]:
    """Three windows of the simulated agent, and the simulated summariser."""
    from course.provider import summariser, worker

    return (
        Model("sim-8k", 8_192, worker.reply),
        Model("sim-32k", 32_768, worker.reply),
        Model("sim-128k", 131_072, worker.reply),
        Model("sim-summarizer", 32_768, summariser.reply),
    )
