"""Tokens and money below a cap although they are known only afterwards."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.errors import CapReached
from pytest_skillevo.core.metering import UNSURE, Caps, Ledger, portions
from pytest_skillevo.core.records import Evaluation, Outcome, Usage


def run_of(tokens: int | None, usd: Decimal | None = Decimal(0)) -> Outcome:
    return Outcome("scored", Evaluation(1.0, usage={"agent": Usage(tokens, 0, usd=usd)}))


def sent(ledger: Ledger, tokens: list[int]) -> list[int]:
    """Send out as much as the ledger lets through; returns the sizes of the portions."""
    sizes = []
    try:
        for part in portions(ledger, "rollout", len(tokens)):
            sizes.append(len(tokens[part]))
            for one in tokens[part]:
                ledger.count_rollout(run_of(one))
    except CapReached:
        pass
    return sizes


@given(st.lists(st.integers(0, 50), max_size=60), st.integers(1, 2000))
def test_a_declared_worst_case_is_never_exceeded_and_leaves_nothing_unused(tokens: list[int], cap: int) -> None:
    sizes = sent(Ledger(Caps(max_tokens=cap, rollout_tokens=50)), tokens)
    used = sum(tokens[: sum(sizes)])
    assert used <= cap
    if sum(sizes) < len(tokens):
        assert used + 50 > cap


@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.integers(1, 2000))
def test_without_a_declared_worst_case_few_are_in_flight_and_little_is_exceeded(tokens: list[int], cap: int) -> None:
    sizes = sent(Ledger(Caps(max_tokens=cap)), tokens)
    assert sizes[0] == 1
    assert max(sizes) <= UNSURE
    used = sum(tokens[: sum(sizes)])
    dearest = max(tokens[: sum(sizes)])
    assert used <= cap + UNSURE * dearest


def test_without_a_cap_everything_is_sent_out_at_once() -> None:
    assert sent(Ledger(Caps(rollout_tokens=5)), [1] * 100) == [100]


def test_an_amount_that_nobody_knows_closes_its_cap_and_no_other() -> None:
    tokens = Ledger(Caps(max_tokens=100))
    tokens.count_rollout(run_of(None))
    with pytest.raises(CapReached, match="tokens of a call are unknown") as reached:
        tokens.portion("rollout", 1)
    assert reached.value.reason == "token_budget"
    money = Ledger(Caps(max_usd=Decimal(5)))
    money.count_rollout(run_of(None, Decimal(1)))
    assert money.portion("rollout", 9) == 4


def test_a_run_that_ended_without_a_record_counts_as_the_dearest_so_far() -> None:
    ledger = Ledger(Caps(max_tokens=30))
    ledger.count_rollout(run_of(10))
    ledger.count_rollout(Outcome("errored", None, "lost"))
    assert ledger.portion("rollout", 9) == 1


def test_calls_are_metered_by_what_calls_use() -> None:
    ledger = Ledger(Caps(max_tokens=100, call_tokens=30))
    ledger.count_rollout(run_of(1))
    assert ledger.portion("call", 9) == 3
    ledger.count_call(Usage(40, 0))
    assert ledger.portion("call", 9) == 1
