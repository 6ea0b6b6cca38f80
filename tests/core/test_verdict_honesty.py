"""The gate tested on itself: identical arms are rarely accepted, where the bare comparison of means often says yes."""

from __future__ import annotations

import math
import os
import random

import pytest

from pytest_skillevo.core.draws import draw
from pytest_skillevo.core.verdict import Goal, PairedCase, Rules, Verdict, confirm, power_note

#: A few in every run; SKILLEVO_SCALE=full draws as many as reports/gate-honesty.md.
EXPERIMENTS = 2000 if os.environ.get("SKILLEVO_SCALE") == "full" else 300
ALPHA = 0.05
#: Three standard deviations of the share that so many experiments show when the true rate is alpha.
TOLERANCE = 3 * math.sqrt(ALPHA * (1 - ALPHA) / EXPERIMENTS)


def experiment(number, kind, gain=0.0, cases=14, repeats=3):
    """Paired cases of different difficulty, arms with different draws; identical unless there is a gain."""

    def run(case, arm, repeat):
        rate = 0.2 + 0.75 * draw("rate", number, case) + (gain if arm == "after" else 0)
        if kind == "pass/fail":
            return float(draw(number, case, arm, repeat) < rate)
        noise = draw(number, case, arm, repeat, 1) + draw(number, case, arm, repeat, 2) - 1
        return min(1.0, max(0.0, rate + 0.3 * noise))

    def arm(case, name):
        return tuple(run(case, name, repeat) for repeat in range(repeats))

    return [PairedCase(f"case-{i}", False, arm(i, "before"), arm(i, "after")) for i in range(cases)]


@pytest.mark.parametrize("kind", ["pass/fail", "graded"])
def test_identical_arms_are_accepted_no_more_often_than_stated(kind):
    results = [confirm(experiment(i, kind), {}, Rules()) for i in range(EXPERIMENTS)]
    accepted = sum(result.decision.verdict is Verdict.ACCEPT for result in results) / EXPERIMENTS
    rejected = sum(result.decision.verdict is Verdict.REJECT for result in results) / EXPERIMENTS
    bare = sum(result.comparison.mean_after > result.comparison.mean_before for result in results) / EXPERIMENTS
    print(
        f"{kind}: {EXPERIMENTS} experiments, accepted {accepted:.1%}, rejected {rejected:.1%}, mean > mean {bare:.1%}"
    )
    assert accepted <= ALPHA + TOLERANCE
    assert rejected <= ALPHA + TOLERANCE
    assert bare > ALPHA + TOLERANCE, "the rule mean > mean must fail this test, or it tests nothing"
    assert bare > 0.3


def test_the_gate_is_not_merely_deaf():
    results = [confirm(experiment(i, "pass/fail", gain=0.4), {}, Rules()) for i in range(60)]
    assert sum(result.decision.verdict is Verdict.ACCEPT for result in results) > 50
    assert not any(result.decision.verdict is Verdict.REJECT for result in results)


def test_a_loss_of_twice_the_margin_does_not_pass_as_no_worse():
    results = [confirm(experiment(i, "pass/fail", gain=-0.2), {}, Rules(goal=Goal.no_worse)) for i in range(100)]
    assert sum(result.decision.verdict is Verdict.ACCEPT for result in results) <= 5


def graded_change(number, mean, noise, rare=0.0, cases=30):
    """Cases whose score changes by noise around a mean; a rare one loses everything."""
    rng = random.Random(f"{number}/{mean}/{noise}/{rare}")
    changes = [-1.0 if rng.random() < rare else round(rng.gauss(mean, noise), 2) for _ in range(cases)]
    pairs = [(1.0, max(0.0, 1 + d)) if d < 0 else (1 - d, 1.0) for d in changes]
    return [PairedCase(f"case-{i}", False, (before,), (after,)) for i, (before, after) in enumerate(pairs)]


def share_not_worse(mean, noise, rare=0.0):
    rules = Rules(goal=Goal.no_worse, repeats=1)
    number = EXPERIMENTS // 3
    results = [confirm(graded_change(i, mean, noise, rare), {}, rules) for i in range(number)]
    return sum(result.decision.verdict is Verdict.ACCEPT for result in results) / number


@pytest.mark.parametrize("noise", [0.05, 0.1])
def test_a_harmless_change_of_noisy_graded_scores_mostly_passes_as_no_worse(noise):
    assert share_not_worse(0.0, noise) > 0.65


@pytest.mark.parametrize(
    ("mean", "noise", "rare"), [(-0.1, 0.1, 0.0), (0.0, 0.05, 0.1), (-0.053, 0.1, 0.05), (-0.053, 0.2, 0.05)]
)
def test_a_graded_loss_of_the_margin_seldom_passes_however_it_is_spread(mean, noise, rare):
    assert share_not_worse(mean, noise, rare) <= ALPHA + TOLERANCE * math.sqrt(3)


def test_the_same_experiment_gives_the_same_confirmation():
    first, second = (confirm(experiment(7, "graded"), {}, Rules()) for _ in range(2))
    assert first == second


def test_the_plan_says_what_it_can_show():
    note = power_note(30, 3)
    assert (note.sd, note.cases_for_five_points, note.clean_cases) == (0.3, 224, 29)
    assert note.sentence == (
        "30 holdout cases x 3 repeats can show a gain of 14 points or more; a 5-point gain needs about 224 cases"
    )


def test_more_repeats_show_smaller_gains():
    gains = [power_note(30, repeats).smallest_gain for repeats in (1, 3, 5, 10)]
    assert gains == sorted(gains, reverse=True)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_a_plan_that_can_show_nothing_says_so(n):
    note = power_note(n, 3)
    assert note.smallest_gain is None
    assert note.smallest_p == 0.5**n
    assert "can show no gain, whatever the results" in note.sentence
    assert note.to_json()["smallest_gain"] is None


def test_the_plan_follows_the_rules():
    assert power_note(30, 3, Rules(alpha=0.01)).smallest_gain > power_note(30, 3).smallest_gain
    assert power_note(30, 3, Rules(margin=0.05)).clean_cases == 59
