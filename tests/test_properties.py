"""What holds for any history: the estimate of chapter 5 and the cuts of chapter 7, with hypothesis."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reference.ch05_budget import estimate_message_tokens, estimate_tokens
from reference.ch07_boundaries import find_boundaries
from tests.histories import histories


@given(histories())
def test_the_estimate_is_a_sum_and_never_raises(history):
    assert estimate_tokens(history) == sum(estimate_message_tokens(message) for message in history)


@given(st.text(max_size=50), st.integers(0, 5))
def test_more_text_never_costs_less(text, more):
    assert estimate_tokens([{"content": text + "y" * more}]) >= estimate_tokens([{"content": text}])


@given(histories(), st.integers(-2, 80), st.integers(-10, 5_000))
def test_the_cuts_are_in_order_and_in_the_list(history, protect_first, budget):
    head_end, tail_start = find_boundaries(history, protect_first, budget)
    assert 0 <= head_end <= tail_start <= len(history)
