"""Frozen confirmation: which verdict paired runs give under each goal, and in which words."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.verdict import (
    CriticalRule,
    Decision,
    Goal,
    PairedCase,
    Rules,
    Verdict,
    cap,
    compare,
    confirm,
    confirm_together,
)

NO_WORSE = Rules(goal=Goal.no_worse)
COST = Rules(goal=Goal.cost)
EITHER = Rules(goal=Goal.either)


def paired(*pairs, repeats=3, tokens=None):
    """One case for each (before, after), every repeat the same; tokens is (before, after) of each run."""
    before, after = ((t,) * repeats for t in tokens) if tokens else ((), ())
    return [
        PairedCase(
            f"case-{i}", False, (b,) * repeats, (a,) * repeats, before, after, (b == 1,) * repeats, (a == 1,) * repeats
        )
        for i, (b, a) in enumerate(pairs)
    ]


def pass_fail(wins=0, ties=0, losses=0, **kwargs):
    return paired(*[(0, 1)] * wins, *[(1, 1)] * ties, *[(1, 0)] * losses, **kwargs)


def decide(cases, rules=None):
    return confirm(cases, {}, rules or Rules()).decision


def test_a_clear_gain_is_accepted_in_the_words_of_the_screen():
    decision = decide(pass_fail(15, 14, 1))
    assert decision == Decision(
        Verdict.ACCEPT,
        "quality-superior",
        "Better on 15 of 30 holdout cases, same on 14, worse on 1 (3 runs each). Chance alone: p = 0.0003, limit 0.05.",
    )


def test_four_wins_and_four_ties_are_inconclusive_and_one_more_win_would_settle_it():
    decision = decide(pass_fail(4, 4))
    assert (decision.verdict, decision.rule, decision.settle) == (Verdict.INCONCLUSIVE, "quality-not-shown", 1)
    assert "p = 0.06, limit 0.05. 1 more case won and none lost would settle it." in decision.reason


def test_a_clear_loss_is_rejected():
    decision = decide(pass_fail(0, 21, 9))
    assert (decision.verdict, decision.rule) == (Verdict.REJECT, "quality-worse")
    assert decision.reason.startswith("Worse on 9 of 30 holdout cases, same on 21, better on 0 (3 runs each).")


def test_equal_arms_are_explained():
    decision = decide(pass_fail(0, 30))
    assert (decision.verdict, decision.settle) == (Verdict.INCONCLUSIVE, 5)
    assert decision.reason.startswith("Same on all 30 holdout cases (3 runs each): nothing differs")


def test_a_single_case_decides_nothing():
    confirmation = confirm(pass_fail(1), {}, Rules())
    assert (confirmation.decision.verdict, confirmation.decision.settle) == (Verdict.INCONCLUSIVE, 4)
    assert confirmation.comparison.interval is None
    assert decide(pass_fail(0, 1)).reason.startswith("Same on the only holdout case (3 runs each)")


def test_no_case_at_all_blocks():
    confirmation = confirm([], {}, Rules())
    assert (confirmation.decision.verdict, confirmation.decision.rule) == (Verdict.BLOCKED, "no-cases")
    comparison = confirmation.comparison
    assert comparison.p is comparison.mean_before is comparison.interval is comparison.tokens is None
    assert comparison.regressed_upper == 1


def test_a_chance_just_below_the_limit_is_not_rounded_onto_it():
    thirds = [(1, 2), (1, 2), (2, 1), (0, 2), (1, 1), (1, 2), (1, 2), (0, 3)]
    cases = [
        PairedCase(f"case-{i}", False, (1.0,) * b + (0.0,) * (3 - b), (1.0,) * a + (0.0,) * (3 - a))
        for i, (b, a) in enumerate(thirds)
    ]
    assert "p = 0.047, limit 0.05" in decide(cases).reason


def test_scores_are_rounded_before_testing():
    decision = decide(paired(*[(0.5, 0.504)] * 10))
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert "Same on all 10" in decision.reason


def test_comparison_counts_what_was_seen():
    comparison = compare(pass_fail(4, 3, 1, tokens=(1000, 860)), Rules())
    assert (comparison.better, comparison.same, comparison.worse, comparison.regressed) == (4, 3, 1, 1)
    assert (comparison.mean_before, comparison.mean_after, comparison.change) == (0.5, 0.875, 0.375)
    assert (comparison.passes_before, comparison.passes_after) == ((12, 24), (21, 24))
    assert (comparison.reliability_before, comparison.reliability_after) == (0.5, 0.875)
    assert comparison.regressed_upper == pytest.approx(0.4707, abs=1e-4)
    tokens = comparison.tokens
    assert tokens is not None
    assert tokens.ratio == pytest.approx(0.86, rel=1e-3)
    assert tokens.p == 1 / 2**8
    assert tokens.before_mean == pytest.approx(1000)
    assert (tokens.total_after, tokens.per_success_before) == (20640, 2000)


def test_mean_tokens_stand_in_the_ratio_beside_them():
    small = PairedCase("small", False, (1.0,), (1.0,), (100,), (200,))
    large = PairedCase("large", False, (1.0,), (1.0,), (10_000,), (5_000,))
    tokens = compare([small, large], Rules()).tokens
    assert tokens is not None
    assert (tokens.before_mean, tokens.after_mean, tokens.ratio) == pytest.approx((1000, 1000, 1))


def test_runaway_runs_are_counted_apart():
    case = PairedCase("a", False, (1.0,) * 3, (1.0,) * 3, (100, 100, 100), (100, 90, 501))
    tokens = compare([case], Rules()).tokens
    assert tokens is not None
    assert (tokens.runaway_before, tokens.runaway_after) == (0, 1)


def test_unknown_passes_and_tokens_stay_unknown():
    case = PairedCase("a", False, (1.0, 0.0), (1.0, 1.0), (100, None), (90, 80), (True, None), (True, True))
    comparison = compare([case], Rules(repeats=2))
    assert comparison.tokens is comparison.passes_before is comparison.reliability_before is None
    assert comparison.passes_after == (2, 2)
    assert comparison.unknown_usage == 1


def test_tokens_in_one_arm_only_are_no_measurement():
    comparison = compare(pass_fail(0, 6, tokens=(1000, 0)), Rules())
    assert comparison.tokens is None
    assert decide(pass_fail(0, 30, tokens=(1000, 0)), COST).rule == "unknown-usage"


def test_a_duplicate_case_is_refused():
    with pytest.raises(ValueError, match="twice"):
        compare([*pass_fail(1), *pass_fail(1)], Rules())


# --- no-worse -------------------------------------------------------------------------------------------------------


def test_a_harmless_change_is_not_worse_from_29_cases():
    assert decide(pass_fail(0, 29), NO_WORSE).verdict is Verdict.ACCEPT
    decision = decide(pass_fail(0, 30), NO_WORSE)
    assert decision.rule == "not-worse"
    assert decision.reason == "Not worse. Same on all 30 holdout cases (3 runs each), margin 10 points."


def test_too_few_cases_say_how_many_more_are_needed():
    decision = decide(pass_fail(0, 8), Rules(goal=Goal.no_worse, margin=0.05))
    assert (decision.verdict, decision.rule) == (Verdict.INCONCLUSIVE, "no-worse-not-shown")
    assert "up to 31 % of such cases could lose" in decision.reason
    assert decision.settle is not None
    assert decide(pass_fail(0, 8 + decision.settle), Rules(goal=Goal.no_worse, margin=0.05)).verdict is Verdict.ACCEPT
    assert (
        decide(pass_fail(0, 7 + decision.settle), Rules(goal=Goal.no_worse, margin=0.05)).verdict is not Verdict.ACCEPT
    )


def test_more_wins_than_losses_are_not_worse_by_the_paired_limit():
    cases = pass_fail(6, 43, 1)
    assert compare(cases, NO_WORSE).regressed_upper < 0.1
    assert decide(cases, NO_WORSE).verdict is Verdict.ACCEPT
    many = pass_fail(20, 75, 8)
    assert compare(many, NO_WORSE).regressed_upper > 0.1
    assert decide(many, NO_WORSE).verdict is Verdict.ACCEPT


def test_graded_scores_need_twenty_cases():
    decision = decide(paired(*[(0.8, 0.9)] * 4, *[(0.9, 0.9)] * 15), Rules(goal=Goal.no_worse, margin=0.2))
    assert decision.verdict is Verdict.INCONCLUSIVE
    assert "Not enough to show non-inferiority with graded scores: 20 cases are the least" in decision.reason
    assert decision.settle == 1
    accepted = decide(paired(*[(0.8, 0.9)] * 4, *[(0.9, 0.9)] * 16), Rules(goal=Goal.no_worse, margin=0.2))
    assert accepted.verdict is Verdict.ACCEPT


def test_rare_full_regressions_do_not_pass_among_graded_scores():
    """The mean falls by 3 points only, well inside the margin, yet 1 of 30 cases is lost altogether."""
    decision = decide(paired((0.9, 0.0), *[(0.9, 0.9)] * 29), NO_WORSE)
    assert decision.verdict is Verdict.INCONCLUSIVE


def two_thirds(before, after, repeats=3):
    def arm(passed):
        return (1.0,) * passed + (0.0,) * (repeats - passed)

    return [PairedCase(f"case-{i}", False, arm(b), arm(a)) for i, (b, a) in enumerate(zip(before, after, strict=True))]


@pytest.mark.parametrize(
    ("lost", "blind", "seeing"), [((2, 0), "all", "majority"), ((3, 2), "majority", "all")], ids=["2-to-0", "3-to-2"]
)
def test_no_reading_of_pass_hides_a_loss_by_default(lost, blind, seeing):
    cases = two_thirds([3] * 26 + [lost[0]] * 4, [3] * 26 + [lost[1]] * 4)
    assert decide(cases, Rules(goal=Goal.no_worse, passes=blind)).verdict is Verdict.ACCEPT
    assert decide(cases, Rules(goal=Goal.no_worse, passes=seeing)).verdict is Verdict.INCONCLUSIVE
    assert decide(cases, NO_WORSE).verdict is Verdict.INCONCLUSIVE


def test_a_loss_within_the_margin_that_is_shown_is_still_rejected():
    cases = pass_fail(0, 245, 5)
    assert compare(cases, NO_WORSE).regressed_upper < 0.1
    assert decide(cases, NO_WORSE).rule == "quality-worse"


# --- cost and either ------------------------------------------------------------------------------------------------


def test_cheaper_and_not_worse_reaches_a_cost_goal():
    decision = decide(pass_fail(0, 30, tokens=(1000, 860)), COST)
    assert (decision.verdict, decision.rule) == (Verdict.ACCEPT, "cost-superior")
    assert decision.reason.startswith(
        "Cheaper and not worse: tokens x0.86 on 30 holdout cases. Chance alone: p < 0.0001"
    )


def test_the_same_cost_is_inconclusive_and_a_higher_one_rejected():
    same = decide(pass_fail(0, 30, tokens=(1000, 1000)), COST)
    assert (same.verdict, same.rule, same.settle) == (Verdict.INCONCLUSIVE, "cost-not-shown", 5)
    dearer = decide(pass_fail(0, 30, tokens=(1000, 1200)), COST)
    assert (dearer.verdict, dearer.rule) == (Verdict.REJECT, "cost-worse")
    assert "tokens x1.20" in dearer.reason


def test_cheaper_alone_is_not_enough():
    decision = decide(pass_fail(0, 10, tokens=(1000, 500)), COST)
    assert (decision.verdict, decision.settle) == (Verdict.INCONCLUSIVE, 19)


def test_nothing_used_is_not_cheaper():
    confirmation = confirm(pass_fail(0, 30, tokens=(0, 0)), {}, COST)
    assert confirmation.decision.verdict is Verdict.INCONCLUSIVE
    assert confirmation.comparison.tokens.ratio is confirmation.comparison.tokens.interval is None


def test_unknown_usage_blocks_a_cost_goal_and_is_never_zero():
    cases = pass_fail(0, 30, tokens=(1000, 860))
    cases[3] = PairedCase("case-3", False, (1.0,) * 3, (1.0,) * 3, (1000,) * 3, (860, None, 860))
    decision = decide(cases, COST)
    assert (decision.verdict, decision.rule) == (Verdict.BLOCKED, "unknown-usage")
    assert "unknown on 1 of 30 holdout cases" in decision.reason
    assert decide(cases, NO_WORSE).verdict is Verdict.ACCEPT


def test_trying_two_goals_needs_six_clean_wins():
    five, six = pass_fail(5, 3, tokens=(10, 10)), pass_fail(6, 2, tokens=(10, 10))
    assert decide(five).verdict is Verdict.ACCEPT
    assert decide(five, EITHER).verdict is Verdict.INCONCLUSIVE
    assert decide(five, EITHER).settle == 1
    assert decide(six, EITHER).rule == "quality-superior"
    assert "limit 0.025" in decide(five, EITHER).reason


def test_either_goal_is_reached_by_cost_too_and_blocked_when_cost_would_be_needed():
    assert decide(pass_fail(0, 40, tokens=(1000, 700)), EITHER).rule == "cost-superior"
    assert decide(pass_fail(0, 30, tokens=(1000, 700)), EITHER).verdict is Verdict.INCONCLUSIVE
    assert decide(pass_fail(6, 30), EITHER).rule == "quality-superior"
    assert decide(pass_fail(5, 30), EITHER).rule == "unknown-usage"
    assert decide(pass_fail(0, 3, 9), EITHER).rule == "quality-worse"


# --- claims, caps, several skills ------------------------------------------------------------------------------------


def test_a_claim_about_these_very_cases_needs_fewer_of_them():
    cases = two_thirds([1, 2, 0], [4, 4, 3], repeats=5)
    rules = Rules(claim="these-tasks", repeats=5)
    assert decide(cases, Rules(repeats=5)).verdict is Verdict.INCONCLUSIVE
    confirmation = confirm(cases, {}, rules)
    assert confirmation.decision.verdict is Verdict.ACCEPT
    assert "Chance alone on these very cases: p = 0.005" in confirmation.decision.reason
    assert confirmation.comparison.interval is None
    assert compare(cases, Rules(repeats=5)).p_these == confirmation.comparison.p_these
    undecided = decide(two_thirds([1], [2], repeats=5), rules)
    assert (undecided.verdict, undecided.settle) == (Verdict.INCONCLUSIVE, None)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_a_cap_lowers_acceptance_only(verdict):
    decision = Decision(verdict, "made-here", "A reason.", 3)
    capped = cap(decision, "holdout-exposed", "The holdout was opened before the search.")
    if verdict is Verdict.ACCEPT:
        assert capped == Decision(Verdict.INCONCLUSIVE, "holdout-exposed", "The holdout was opened before the search.")
    else:
        assert capped is decision


def test_several_skills_together_buy_no_luck():
    lucky, clear, worse = pass_fail(5, 3), pass_fail(9, 3), pass_fail(0, 3, 5)
    alone = confirm_together({"lucky": (lucky, {})}, Rules())
    assert alone["lucky"].decision.verdict is Verdict.ACCEPT
    two = confirm_together({"lucky": (lucky, {}), "other": (pass_fail(0, 9), {})}, Rules())
    assert two["lucky"].decision.verdict is Verdict.INCONCLUSIVE
    # Once the clear one is accepted, the whole alpha is left for the other (Holm).
    stepped = confirm_together({"lucky": (lucky, {}), "clear": (clear, {})}, Rules())
    assert [each.decision.verdict for each in stepped.values()] == [Verdict.ACCEPT] * 2
    assert list(stepped) == ["lucky", "clear"]
    mixed = confirm_together({"worse": (worse, {}), "clear": (clear, {})}, Rules())
    assert mixed["worse"].decision.verdict is Verdict.REJECT


# --- rules and records -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"margin": 0},
        {"margin": 1.5},
        {"alpha": 0.0},
        {"alpha": 0.5},
        {"repeats": 0},
        {"rerun_repeats": 4},
        {"goal": "fast"},
        {"critical": "never"},
        {"claim": "all-tasks"},
        {"passes": "some"},
        {"margin": math.nan},
    ],
)
def test_rules_that_decide_nothing_are_wrong_usage(wrong):
    with pytest.raises(ConfigError):
        Rules(**wrong)


def test_rules_take_the_text_of_options():
    rules = Rules(goal="no-worse", critical="tested")
    assert rules.goal is Goal.no_worse
    assert rules.critical is CriticalRule.tested


@pytest.mark.parametrize(
    "wrong",
    [
        {"after": (1.0,)},
        {"before": (1.0, math.nan)},
        {"after": (1.0, 1.2)},
        {"tokens_before": (1,)},
        {"passed_after": (True,)},
        {"dropped_pairs": -1},
        {"lost_after": -1},
    ],
)
def test_a_case_that_is_no_pair_is_refused(wrong):
    fields = {"before": (1.0, 1.0), "after": (1.0, 0.0)}
    with pytest.raises(ValueError, match="case-1"):
        PairedCase("case-1", False, **{**fields, **wrong})


runs = st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), max_size=3)
tokens = st.none() | st.integers(0, 5000)


@st.composite
def experiments(draw):
    cases = []
    for i in range(draw(st.integers(0, 9))):
        pairs = draw(runs)
        measured = [(draw(tokens), draw(tokens)) for _ in pairs]
        cases.append(
            PairedCase(
                f"case-{i}",
                draw(st.booleans()),
                tuple(b for b, _ in pairs),
                tuple(a for _, a in pairs),
                tuple(b for b, _ in measured),
                tuple(a for _, a in measured),
                dropped_pairs=3 - len(pairs),
            )
        )
    return cases


@settings(deadline=None, max_examples=150)
@given(experiments(), st.sampled_from(list(Goal)), st.sampled_from(list(CriticalRule)))
def test_every_experiment_ends_in_plain_json_with_a_reason(cases, goal, critical):
    confirmation = confirm(cases, {}, Rules(goal=goal, critical=critical))
    data = json.loads(json.dumps(confirmation.to_json(), allow_nan=False))
    assert data["decision"]["verdict"] in set(Verdict)
    assert data["decision"]["reason"].endswith(".")
    assert "significant" not in data["decision"]["reason"]
    assert (data["decision"]["settle"] is None) or data["decision"]["verdict"] == "INCONCLUSIVE"
    assert Rules(**Rules(goal=goal).to_json()) == Rules(goal=goal)


thirds = st.integers(0, 3).map(lambda k: (1.0,) * k + (0.0,) * (3 - k))


@settings(deadline=None, max_examples=150)
@given(st.lists(st.tuples(thirds, thirds), min_size=5, max_size=16))
def test_interval_and_verdict_never_contradict_each_other(pairs):
    cases = [PairedCase(f"case-{i}", False, b, a) for i, (b, a) in enumerate(pairs)]
    confirmation = confirm(cases, {}, Rules())
    low, high = confirmation.comparison.interval
    assert (low > 0) == (confirmation.decision.verdict is Verdict.ACCEPT) == (confirmation.comparison.p <= 0.05)
    assert (high < 0) == (confirmation.decision.verdict is Verdict.REJECT)
    assert low <= confirmation.comparison.change <= high


@settings(deadline=None, max_examples=80)
@given(st.lists(st.tuples(thirds, thirds), min_size=5, max_size=16), st.sampled_from(list(Goal)))
def test_what_is_shown_to_be_worse_is_never_accepted(pairs, goal):
    cases = [PairedCase(f"case-{i}", False, b, a, (9,) * 3, (7,) * 3) for i, (b, a) in enumerate(pairs)]
    confirmation = confirm(cases, {}, Rules(goal=goal))
    assert (confirmation.comparison.p_worse <= 0.05) == (confirmation.decision.rule == "quality-worse")
