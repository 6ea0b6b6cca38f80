"""Degenerate and very large data: explained values instead of NaN, and the same draws in every run."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from pytest_skillevo.core import stats
from pytest_skillevo.core.draws import draw, draw_int


def irregular(n, *key):
    """Floats on no lattice, the mean a little above zero."""
    return [draw("irregular", *key, i) - 0.45 for i in range(n)]


@pytest.mark.parametrize("differences", [[], [0], [0.0] * 12])
def test_without_a_difference_nothing_is_unlikely(differences):
    test = stats.sign_flip(differences)
    assert (test.greater, test.less, test.two_sided, test.count) == (1, 1, 1, 0)


def test_a_single_case_is_a_coin():
    test = stats.sign_flip([0.25])
    assert (test.greater, test.less) == (Fraction(1, 2), 1)


def test_zero_variance_is_a_point_and_not_a_crash():
    found = stats.subset_mean_interval([0.25] * 6)
    assert found is not None
    assert (found.low, found.high) == (Fraction(1, 4), Fraction(1, 4))
    assert stats.t_lower_limit([0.25] * 6) == 0.25


@pytest.mark.parametrize("n", [0, 1, 4])
def test_too_few_cases_have_no_interval(n):
    assert stats.subset_mean_interval([1] * n) is None


def test_no_data_leave_everything_open():
    assert stats.wilson(0, 0) == stats.clopper_pearson(0, 0) == (0, 1)
    assert stats.upper_bound(0, 0) == 1
    assert stats.newcombe_paired(0, 0, 0, 0) == (0, -1, 1)
    assert stats.t_lower_limit([]) is stats.t_lower_limit([0.3]) is None
    assert stats.geometric_ratio([], []) is None
    assert stats.within_tasks([], []).greater == 1
    assert stats.holm([]) == []
    assert stats.detectable_gain(1, 0.3) is stats.detectable_gain(4, 0.3) is None


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_difference_that_is_no_number_is_refused(bad):
    with pytest.raises(ValueError, match="finite"):
        stats.sign_flip([0.5, bad])


def test_cost_ratios_need_amounts_in_both_arms():
    both_zero = stats.geometric_ratio([0], [0])
    assert both_zero is not None
    assert both_zero.ratio == 1
    with pytest.raises(ValueError, match="no ratio"):
        stats.geometric_ratio([100], [0])


def test_equal_savings_give_a_point_around_their_ratio():
    test = stats.geometric_ratio([1000] * 8, [860] * 8)
    assert test is not None
    assert test.interval == pytest.approx((test.ratio, test.ratio))
    assert test.ratio == pytest.approx(0.86, rel=5e-4)


def test_five_hundred_graded_cases_are_counted_exactly():
    differences = [Fraction(draw_int(121, "graded", i) - 55, 300) for i in range(500)]
    test = stats.sign_flip(differences)
    spread = math.sqrt(sum(float(d) ** 2 for d in differences))
    normal = math.erfc(float(sum(differences)) / spread / math.sqrt(2)) / 2
    assert test.exact
    assert float(test.greater) == pytest.approx(normal, rel=0.05)


def test_many_arbitrary_floats_are_drawn_and_come_out_the_same_every_time():
    differences = irregular(60)
    test = stats.sign_flip(differences)
    spread = math.sqrt(sum(d * d for d in differences))
    normal = math.erfc(sum(differences) / spread / math.sqrt(2)) / 2
    assert not test.exact
    assert test == stats.sign_flip(differences)
    assert float(test.greater) == pytest.approx(normal, abs=0.015)


def test_a_drawn_chance_is_never_zero():
    assert stats.sign_flip([1 + x for x in irregular(60)]).greater > 0


@pytest.mark.parametrize("key", range(8))
def test_a_drawn_interval_does_not_contradict_the_test_either(key):
    differences = [Fraction(draw_int(9, "many", key, i) - 4, 3) + Fraction(key, 30) for i in range(130)]
    found, test = stats.subset_mean_interval(differences), stats.sign_flip(differences)
    assert found is not None
    assert not found.exact
    assert found == stats.subset_mean_interval(differences)
    assert (found.low > 0) == (test.greater <= Fraction(1, 20))
    assert (found.high < 0) == (test.less <= Fraction(1, 20))
    assert found.low <= sum(differences) / len(differences) <= found.high


def test_a_drawn_interval_is_moved_to_the_side_that_the_test_decides():
    """Around p = 0.05 the draws alone would err now and then."""
    sides = set()
    for wins in range(62, 72):
        differences = [1] * wins + [-1] * (110 - wins) + [0] * 10
        found, test = stats.subset_mean_interval(differences), stats.sign_flip(differences)
        assert found is not None
        assert (found.low > 0) == (test.greater <= Fraction(1, 20))
        sides.add(found.low > 0)
    assert sides == {True, False}


def test_labels_of_very_many_graded_runs_are_drawn():
    def arm(name, shift):
        return [[60 + shift + draw_int(40, name, i, j) for j in range(3)] for i in range(220)]

    before, after = arm("before", 0), arm("after", 1)
    test = stats.within_tasks(before, after)
    assert not test.exact
    assert test == stats.within_tasks(before, after)
    assert 0 < test.greater < test.less <= 1


def test_a_level_means_what_was_written():
    assert stats.level(0.05) == Fraction(1, 20) == stats.level(Fraction(1, 20))
    assert stats.level(1e-7) == Fraction(1, 10**7)


def test_least_finds_the_first_and_gives_up_at_its_limit():
    assert stats.least(lambda n: n >= 0, 100) == 0
    assert [stats.least(lambda n, first=first: n >= first, 100) for first in (1, 2, 7, 64, 100)] == [1, 2, 7, 64, 100]
    assert stats.least(lambda n: n >= 101, 100) is None


def test_scores_are_tested_in_whole_hundredths():
    assert stats.rounded((0.0, 0.333, 0.666, 1.0)) == (0, 33, 67, 100)
