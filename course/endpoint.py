"""The endpoint of a run: the offline provider, or a real one that the environment names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openai

from course.provider import Model, Provider, default_models, worker
from course.survey import Models

SUMMARIZER = "sim-summarizer"
DEFAULT_WINDOW = 8_192
LIVE_MODEL = "gpt-4o-mini"
LIVE_WINDOW = 131_072


class NoKeyError(RuntimeError):
    """A real endpoint was asked for, and there is no key."""


@contextmanager
def offline_endpoint(window: int | None) -> Iterator[tuple[Any, Models, Provider]]:
    """(client, models, provider): the simulated agent in a window of so many tokens, 8,192 unless given."""
    window = window or DEFAULT_WINDOW
    served = {model.context_length: model for model in default_models() if model.answer is worker.reply}
    agent = served.get(window) or Model(f"sim-{window}", window, worker.reply)
    summarizer = next(model for model in default_models() if model.name == SUMMARIZER)
    with Provider([agent, summarizer]) as provider, provider.client() as client:
        yield client, Models(agent.name, window, summarizer.name, summarizer.context_length), provider


def live_endpoint(window: int | None) -> tuple[Any, Models]:
    """(client, models) of the endpoint that the environment names; NoKeyError without OPENAI_API_KEY.

    MODEL is the agent's model, SUMMARY_MODEL a cheaper one for the summaries; without it both are the same.
    """
    if not os.environ.get("OPENAI_API_KEY"):
        raise NoKeyError("--live needs OPENAI_API_KEY, and optionally OPENAI_BASE_URL and MODEL. Nothing was sent.")
    model = os.environ.get("MODEL", LIVE_MODEL)
    summarizer = os.environ.get("SUMMARY_MODEL", model)
    return openai.OpenAI(), Models(model, window or DEFAULT_WINDOW, summarizer, LIVE_WINDOW)
