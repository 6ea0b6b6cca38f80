"""The exact chance of a net loss: it holds its level whatever share of cases the change wins."""

from __future__ import annotations

import math

import pytest

from pytest_skillevo.core import stats

scipy_stats = pytest.importorskip("scipy.stats")

MARGIN = 0.10
#: True shares of cases won.
SHARES = (0.0, 0.002, 0.005, 0.01, 0.02, 0.04, 0.06, 0.09, 0.12, 0.16, 0.22, 0.3)


def chance_of_table(lost: int, won: int, cases: int, loss: float, gain: float) -> float:
    return float(scipy_stats.multinomial.pmf([lost, won, cases - lost - won], cases, [loss, gain, 1 - loss - gain]))


@pytest.mark.parametrize("cases", [20, 30, 50, 60])
def test_a_loss_of_the_margin_passes_at_most_once_in_twenty_whatever_is_won(cases: int) -> None:
    shown = [
        (lost, won)
        for won in range(cases + 1)
        for lost in range(cases + 1 - won)
        if lost - won < MARGIN * cases and stats.chance_of_net_loss(lost, won, cases, MARGIN) <= 0.05
    ]
    for gain in SHARES:
        passes = sum(chance_of_table(lost, won, cases, gain + MARGIN, gain) for lost, won in shown)
        assert passes <= 0.05, f"{passes:.4f} at {gain}"


@pytest.mark.parametrize(("lost", "cases"), [(0, 10), (0, 29), (1, 46), (2, 60), (5, 200)])
def test_without_a_win_it_is_the_binomial_tail(lost: int, cases: int) -> None:
    expected = scipy_stats.binom.cdf(lost, cases, MARGIN)
    assert stats.chance_of_net_loss(lost, 0, cases, MARGIN) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("lost", "won", "cases"), [(3, 2, 40), (9, 9, 60), (0, 4, 25), (12, 5, 60)])
def test_it_counts_all_tables_at_the_likeliest_share_of_wins(lost: int, won: int, cases: int) -> None:
    def likelihood(gain: float) -> float:
        rest = 1 - 2 * gain - MARGIN
        return lost * math.log(gain + MARGIN) + won * math.log(gain) + (cases - lost - won) * math.log(rest)

    gain = max((k / 20_000 for k in range(1, 9_000)), key=likelihood)
    tables = ((b, c) for c in range(cases + 1) for b in range(cases + 1 - c) if b - c <= lost - won)
    expected = sum(chance_of_table(b, c, cases, gain + MARGIN, gain) for b, c in tables)
    assert stats.chance_of_net_loss(lost, won, cases, MARGIN) == pytest.approx(expected, abs=2e-4)


def test_degenerate_tables_have_an_answer() -> None:
    assert stats.chance_of_net_loss(0, 0, 0, MARGIN) == 1
    assert stats.chance_of_net_loss(5, 0, 5, MARGIN) == pytest.approx(1)
    assert 0 < stats.chance_of_net_loss(0, 5, 5, MARGIN) < 0.05
    with pytest.raises(ValueError, match="6 lost and 0 won of 5 cases"):
        stats.chance_of_net_loss(6, 0, 5, MARGIN)
