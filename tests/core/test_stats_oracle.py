"""The standard-library statistics against scipy and against plain enumeration, on generated inputs."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pytest_skillevo.core import stats

calm = settings(deadline=None, max_examples=60)
small = st.lists(st.integers(-6, 6), min_size=1, max_size=9)
counts = st.integers(0, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
ALPHA = Fraction(1, 20)


@calm
@given(small)
def test_sign_flip_agrees_with_scipy(differences):
    assume(len(differences) > 1)
    sample = (np.array(differences),)
    for alternative in ("greater", "less"):
        oracle = scipy.stats.permutation_test(
            sample, np.sum, permutation_type="samples", alternative=alternative, n_resamples=np.inf
        )
        assert float(getattr(stats.sign_flip(differences), alternative)) == pytest.approx(oracle.pvalue)


@calm
@given(st.integers(0, 40), st.integers(0, 40))
def test_sign_flip_of_wins_and_losses_is_the_sign_test(wins, losses):
    assume(wins + losses)
    oracle = scipy.stats.binomtest(wins, wins + losses, 0.5, alternative="greater").pvalue
    assert float(stats.sign_flip([1] * wins + [-1] * losses + [0] * 3).greater) == pytest.approx(oracle)


@calm
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=8))
def test_sign_flip_of_arbitrary_floats_counts_exact_sums(differences):
    values = [stats.exact(d) for d in differences]
    flipped = [sum(s * v for s, v in zip(signs, values, strict=True)) for signs in product((1, -1), repeat=len(values))]
    test = stats.sign_flip(differences)
    assert test.exact
    assert test.greater == Fraction(sum(s >= sum(values) for s in flipped), len(flipped))
    assert test.less == Fraction(sum(s <= sum(values) for s in flipped), len(flipped))


@calm
@given(st.lists(st.integers(-300, 300), min_size=25, max_size=60))
def test_both_ways_of_counting_subsets_agree(differences):
    """Long lists are packed into big integers; adding them up one by one gives the same counts."""
    counts = {0: 1}
    for difference in differences:
        grown = dict(counts)
        for total, count in counts.items():
            grown[total + abs(difference)] = grown.get(total + abs(difference), 0) + count
        counts = grown
    losses = -sum(d for d in differences if d < 0)
    wins = sum(d for d in differences if d > 0)
    test = stats.sign_flip(differences)
    assert test.greater == Fraction(sum(c for t, c in counts.items() if t <= losses), 2 ** len(differences))
    assert test.less == Fraction(sum(c for t, c in counts.items() if t <= wins), 2 ** len(differences))


@calm
@given(small, st.integers(1, 12))
def test_a_sign_flip_knows_no_scale_and_mirrors_its_sides(differences, scale):
    test, mirror = stats.sign_flip(differences), stats.sign_flip([Fraction(-d, scale) for d in differences])
    assert (test.greater, test.less) == (mirror.less, mirror.greater)


@calm
@given(st.lists(st.integers(-5, 5), min_size=5, max_size=11))
def test_interval_is_the_tail_of_all_subset_means(differences):
    n = len(differences)
    means = sorted(
        Fraction(sum(chosen), size) for size in range(1, n + 1) for chosen in combinations(differences, size)
    )
    rank = 2**n // 20
    found = stats.subset_mean_interval(differences)
    assert found is not None
    assert found.exact
    assert (found.low, found.high) == (means[rank - 1], means[-rank])


@calm
@given(st.lists(st.floats(-1, 1), min_size=5, max_size=9))
def test_interval_of_arbitrary_floats_is_exact_too(differences):
    values = [stats.exact(d) for d in differences]
    means = sorted(sum(c) / size for size in range(1, len(values) + 1) for c in combinations(values, size))
    rank = 2 ** len(values) // 20
    found = stats.subset_mean_interval(differences)
    assert found is not None
    assert (found.low, found.high) == (means[rank - 1], means[-rank])


@calm
@given(
    st.lists(st.fractions(-1, 1, max_denominator=12), min_size=5, max_size=40),
    st.sampled_from([0.01, 0.025, 0.05, 0.1]),
)
def test_the_interval_never_contradicts_the_test(differences, alpha):
    found, test = stats.subset_mean_interval(differences, alpha), stats.sign_flip(differences)
    assume(found is not None)
    assert (found.low > 0) == (test.greater <= stats.level(alpha))
    assert (found.high < 0) == (test.less <= stats.level(alpha))
    assert found.low <= found.high


@calm
@given(counts, st.sampled_from([0.8, 0.9, 0.95, 0.99]))
def test_wilson_and_clopper_pearson_agree_with_scipy(count, confidence):
    k, n = count
    assume(n)
    oracle = scipy.stats.binomtest(k, n)
    for ours, method in ((stats.wilson, "wilson"), (stats.clopper_pearson, "exact")):
        expected = oracle.proportion_ci(confidence, method=method)
        assert ours(k, n, confidence) == pytest.approx((expected.low, expected.high), abs=1e-9)


@calm
@given(counts, st.floats(0.001, 0.4))
def test_bound_on_regressions_agrees_with_the_beta_quantile(count, alpha):
    k, n = count
    expected = 1.0 if k == n else scipy.stats.beta.ppf(1 - alpha, k + 1, n - k)
    assert stats.upper_bound(k, n, alpha) == pytest.approx(expected, abs=1e-9)


@calm
@given(st.floats(1e-6, 1 - 1e-6), st.floats(0.5, 300), st.floats(0.5, 300))
def test_incomplete_beta_agrees_with_scipy(x, a, b):
    assert (stats.beta_cdf(0, a, b), stats.beta_cdf(1, a, b)) == (0, 1)
    assert stats.beta_cdf(x, a, b) == pytest.approx(scipy.special.betainc(a, b, x), abs=1e-10)


@calm
@given(st.floats(1e-4, 0.49), st.integers(1, 400))
def test_t_quantile_agrees_with_scipy(alpha, degrees):
    assert stats.t_quantile(alpha, degrees) == pytest.approx(scipy.stats.t.isf(alpha, degrees), rel=1e-7)
    assert stats.t_upper_tail(-1.5, degrees) == pytest.approx(scipy.stats.t.sf(-1.5, degrees))


@calm
@given(st.integers(3, 250), st.floats(0, 0.6), st.floats(0.1, 0.6))
def test_power_agrees_with_the_noncentral_t(n, gain, sd):
    bound = scipy.stats.t.isf(0.05, n - 1)
    # scipy gives nan far in the tail, where the power is 1.
    expected = np.nan_to_num(scipy.stats.nct.sf(bound, n - 1, gain * np.sqrt(n) / sd), nan=1.0)
    assert stats.t_power(n, gain, sd) == pytest.approx(float(expected), abs=2e-6)


@calm
@given(st.lists(st.floats(0, 1), min_size=2, max_size=40), st.sampled_from([0.025, 0.05]))
def test_t_lower_limit_agrees_with_scipy(values, alpha):
    assume(max(values) - min(values) > 1e-6)
    expected = scipy.stats.ttest_1samp(values, 0, alternative="greater").confidence_interval(1 - alpha).low
    assert stats.t_lower_limit(values, alpha) == pytest.approx(expected, abs=1e-8)


arms = st.integers(1, 5).flatmap(lambda k: st.tuples(st.integers(0, k), st.integers(0, k), st.just(k)))


@calm
@given(st.lists(arms, min_size=1, max_size=6).filter(lambda tasks: len({k for _, _, k in tasks}) == 1))
def test_within_tasks_is_the_hypergeometric_convolution(tasks):
    pmf = np.ones(1)
    for before, after, k in tasks:
        pmf = np.convolve(pmf, scipy.stats.hypergeom.pmf(np.arange(k + 1), 2 * k, before + after, k))
    observed = sum(after for _, after, _ in tasks)
    runs = [([1] * b + [0] * (k - b), [1] * a + [0] * (k - a)) for b, a, k in tasks]
    test = stats.within_tasks([b for b, _ in runs], [a for _, a in runs])
    assert float(test.greater) == pytest.approx(pmf[observed:].sum(), abs=1e-12)
    assert float(test.less) == pytest.approx(pmf[: observed + 1].sum(), abs=1e-12)


scores = st.lists(st.integers(0, 100), min_size=1, max_size=3)


@calm
@given(st.lists(st.tuples(scores, scores), min_size=1, max_size=3))
def test_within_tasks_of_graded_scores_is_the_count_over_all_relabelings(tasks):
    every = []
    for before, after in tasks:
        every.append([Fraction(sum(c), len(after)) for c in combinations([*before, *after], len(after))])
    observed = sum(Fraction(sum(after), len(after)) for _, after in tasks)
    totals = [sum(choice) for choice in product(*every)]
    test = stats.within_tasks([b for b, _ in tasks], [a for _, a in tasks])
    assert test.exact
    assert test.greater == Fraction(sum(t >= observed for t in totals), len(totals))
    assert test.less == Fraction(sum(t <= observed for t in totals), len(totals))


@calm
@given(*[st.integers(0, 30)] * 4)
def test_newcombe_turns_its_sign_when_the_arms_are_exchanged(both, before_only, after_only, neither):
    difference, low, high = stats.newcombe_paired(both, before_only, after_only, neither)
    mirrored = stats.newcombe_paired(both, after_only, before_only, neither)
    assert (difference, low, high) == pytest.approx((-mirrored[0], -mirrored[2], -mirrored[1]))
    assert -1 <= low <= difference <= high <= 1


@calm
@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_only_raises_and_keeps_the_order(chances):
    adjusted = stats.holm(chances)
    assert all(a >= p for a, p in zip(adjusted, chances, strict=True))
    assert all(a <= 1 for a in adjusted)
    ranked = sorted(range(len(chances)), key=lambda i: chances[i])
    assert [adjusted[i] for i in ranked] == sorted(adjusted)


@given(st.integers(0, 25))
def test_the_e_process_is_fair_to_a_fair_coin(n):
    assert sum(scipy.special.comb(n, w, exact=True) * stats.e_value(w, n - w) for w in range(n + 1)) == 2**n


@calm
@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n), st.integers(1, n))))
def test_reliability_is_the_share_of_draws_without_replacement(args):
    passed, n, k = args
    draws = list(combinations([True] * passed + [False] * (n - passed), k))
    assert stats.pass_hat_k(passed, n, k) == pytest.approx(sum(map(all, draws)) / len(draws))
    assert stats.pass_at_k(passed, n, k) == pytest.approx(sum(map(any, draws)) / len(draws))


@calm
@given(st.lists(st.integers(-3, 3), max_size=12), st.sampled_from([0.05, 0.025]))
def test_settling_is_the_first_count_that_settles(differences, alpha):
    more = stats.wins_to_settle(differences, alpha)
    sizes = sorted(d for d in differences if d > 0) or sorted(-d for d in differences if d < 0) or [1]
    win = sizes[len(sizes) // 2]
    assert more is not None
    assert stats.sign_flip([*differences, *[win] * more]).greater <= stats.level(alpha)
    assert more == 0 or stats.sign_flip([*differences, *[win] * (more - 1)]).greater > stats.level(alpha)


@pytest.mark.parametrize(("n", "lost"), [(20, 0), (30, 3), (59, 20), (150, 70)])
def test_the_limit_for_bounded_differences_is_clopper_pearsons_when_all_is_won_or_lost(n, lost):
    p = stats.chance_of_loss([-1.0] * lost + [1.0] * (n - lost), 0.1)
    assert p == pytest.approx(scipy.stats.binom.cdf(lost, n, 0.55), abs=1e-6)
    assert stats.chance_of_loss([0.0] * n, 0.1) == pytest.approx(0.9**n, abs=1e-6)


def test_the_limit_for_bounded_differences_agrees_with_random_weights():
    differences = [round(0.1 * ((7 * i) % 11 - 5) / 5, 2) for i in range(30)] + [-0.6, 0.3]
    weights = np.random.default_rng(3).dirichlet([1.0] * (len(differences) + 1), 200_000)
    losses = np.array([(1 - d) / 2 for d in differences] + [1.0])
    assert stats.chance_of_loss(differences, 0.1) == pytest.approx(float((weights @ losses >= 0.55).mean()), abs=0.005)


def test_the_limit_for_bounded_differences_knows_its_edges():
    assert stats.chance_of_loss([], 0.1) == 1.0
    assert stats.chance_of_loss([-1.0] * 30, 0.1) == 1.0
