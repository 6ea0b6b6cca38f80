"""The golden values of spec/statistics.md 5.4 and the numbers of its text."""

from __future__ import annotations

from fractions import Fraction

import pytest

from pytest_skillevo.core import stats

THIRDS = [Fraction(x, 3) for x in (1, 1, -1, 2, 0, 1, 1, 3)]


def interval(differences, alpha=Fraction(1, 20)):
    found = stats.subset_mean_interval(differences, alpha)
    return None if found is None else (found.low, found.high)


def test_four_wins_and_four_ties_are_no_proof():
    test = stats.sign_flip([1, 1, 1, 1, 0, 0, 0, 0])
    assert (test.greater, test.two_sided) == (Fraction(1, 16), Fraction(1, 8))


@pytest.mark.parametrize("differences", [THIRDS, [float(x) for x in THIRDS]], ids=["fractions", "floats"])
def test_differences_in_thirds_are_tested_on_their_lattice(differences):
    assert float(stats.sign_flip(differences).greater) == 0.046875
    assert interval(differences) == (Fraction(1, 12), Fraction(7, 12))


def test_ties_that_floats_would_miss_are_counted():
    differences = [x / 3 for x in (-2, -1, 1, 2, 1, -2, 1)]
    assert float(stats.sign_flip(differences).greater) == 0.59375


@pytest.mark.parametrize(("wins", "p"), [(5, 0.03125), (6, 0.015625)])
def test_equal_wins(wins, p):
    assert float(stats.sign_flip([0.2] * wins).greater) == p


@pytest.mark.parametrize(
    ("differences", "expected"),
    [
        ([1] * 4 + [0] * 4, (0, 1)),
        ([1] * 5 + [0] * 3, (Fraction(1, 4), 1)),
        ([1] * 6 + [-1] * 2, (0, 1)),
        ([0.1, 0.2, 0.3, 0.4, 0.5], (Fraction(1, 10), Fraction(1, 2))),
        ([2, 1, 0, 3, -1, 1, 0, 2, 1, 1], (Fraction(1, 3), Fraction(5, 3))),
        ([1, 2, 3, 4], None),
    ],
)
def test_subset_mean_intervals(differences, expected):
    assert interval(differences) == expected


def test_six_wins_and_two_losses():
    assert stats.sign_flip([1] * 6 + [-1] * 2).greater == Fraction(37, 256)


@pytest.mark.parametrize(
    ("alpha", "needed"),
    [(0.05, (5, 7, 9, 10)), (0.025, (6, 8, 10, 12)), (0.0167, (6, 9, 11, 13)), (0.01, (7, 10, 12, 14))],
)
def test_wins_needed_against_losses(alpha, needed):
    for losses, wins in enumerate(needed):
        assert stats.sign_flip([1] * wins + [-1] * losses).greater <= stats.level(alpha)
        assert stats.sign_flip([1] * (wins - 1) + [-1] * losses).greater > stats.level(alpha)
        assert stats.wins_to_settle([-1] * losses + [1], alpha) == wins - 1


@pytest.mark.parametrize(
    ("k", "n", "expected"),
    [(8, 8, (0.6756, 1)), (0, 8, (0, 0.3244)), (88, 90, (0.9226, 0.9939)), (3, 11, (0.0975, 0.5656))],
)
def test_wilson(k, n, expected):
    assert stats.wilson(k, n) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(
    ("k", "n", "bound"),
    [
        (0, 8, 0.3123),
        (0, 10, 0.2589),
        (0, 20, 0.1391),
        (0, 30, 0.0950),
        (0, 50, 0.0582),
        (0, 100, 0.0295),
        (1, 20, 0.2161),
    ],
)
def test_bound_on_regressions(k, n, bound):
    assert stats.upper_bound(k, n) == pytest.approx(bound, abs=5e-5)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ((14, 0, 5, 22), (0.1220, 0.0115, 0.2265)),
        ((1, 7, 1, 12), (-0.2857, -0.5069, -0.0256)),
        ((6, 0, 4, 0), (0.40, 0.0384, 0.6873)),
        ((17, 1, 2, 0), (0.05, -0.1547, 0.2583)),
        ((8, 0, 0, 0), (0, -0.3244, 0.3244)),
    ],
)
def test_newcombe_paired(table, expected):
    assert stats.newcombe_paired(*table) == pytest.approx(expected, abs=5e-5)


def test_holm():
    assert stats.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def runs(passed, n=5):
    return [1] * passed + [0] * (n - passed)


def test_within_task_permutation_is_far_stronger_on_few_tasks():
    before, after = [runs(1), runs(2), runs(0)], [runs(4), runs(4), runs(3)]
    assert float(stats.within_tasks(before, after).greater) == pytest.approx(0.0046533, abs=5e-8)
    differences = [sum(a) - sum(b) for b, a in zip(before, after, strict=True)]
    assert stats.sign_flip(differences).greater == Fraction(1, 8)


@pytest.mark.parametrize(
    ("before", "after", "n", "p"), [(3, 0, 3, 0.05), (5, 2, 5, 0.083), (5, 1, 5, 0.024), (5, 0, 5, 0.004)]
)
def test_reachable_chances_of_one_critical_case(before, after, n, p):
    assert float(stats.within_tasks([runs(before, n)], [runs(after, n)]).less) == pytest.approx(p, abs=5e-4)


@pytest.mark.parametrize(
    ("wins", "losses", "value"),
    [(5, 0, 10.5), (6, 0, 18.143), (7, 0, 31.875), (9, 1, 18.509), (10, 1, 30.932), (0, 3, 0.25)],
)
def test_e_values(wins, losses, value):
    assert float(stats.e_value(wins, losses)) == pytest.approx(value, abs=5e-4)


def test_e_process_stops_at_the_stated_scores():
    for wins, losses in ((7, 0), (10, 1), (12, 2), (14, 3)):
        assert stats.e_value(wins, losses) >= 20 > stats.e_value(wins - 1, losses)


def test_reliability():
    assert stats.pass_hat_k(4, 5, 3) == pytest.approx(0.4)
    assert stats.pass_at_k(4, 5, 3) == 1
    assert stats.pass_hat_k(2, 3, 2) == pytest.approx(1 / 3)
    assert stats.pass_hat_k(2, 3, 4) is stats.pass_at_k(2, 3, 4) is None


def test_cost_ratio():
    test = stats.geometric_ratio([100, 200, 400, 800], [90, 150, 300, 400])
    assert test is not None
    assert test.ratio == pytest.approx(0.7093, abs=5e-5)
    assert float(test.lower) == 0.0625
    assert test.interval is None


@pytest.mark.parametrize(
    ("n", "gain"), [(5, 0.408), (8, 0.293), (10, 0.256), (20, 0.173), (30, 0.139), (50, 0.107), (100, 0.075)]
)
def test_detectable_gain(n, gain):
    assert stats.detectable_gain(n, 0.3) == pytest.approx(gain, abs=6e-4)


@pytest.mark.parametrize(("sd", "needed"), [(0.3, (224, 58, 27, 16, 8)), (0.5, (620, 156, 71, 41, 19))])
def test_tasks_needed(sd, needed):
    gains = (0.05, 0.10, 0.15, 0.20, 0.30)
    assert tuple(stats.tasks_needed(gain, sd) for gain in gains) == needed
    for gain, n in zip(gains, needed, strict=True):
        assert abs(stats.closed_form_tasks(gain, sd) - n) <= 1


@pytest.mark.parametrize(("margin", "n"), [(0.05, 59), (0.10, 29), (0.15, 19), (0.20, 14), (0.25, 11)])
def test_clean_cases_that_prove_a_margin(margin, n):
    assert stats.clean_cases_needed(margin) == n
    assert stats.upper_bound(0, n) <= margin < stats.upper_bound(0, n - 1)
