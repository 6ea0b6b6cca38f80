"""Critical cases veto by the declared rule, and lost runs block instead of counting as zeros."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.verdict import (
    CriticalRule,
    PairedCase,
    Rules,
    Verdict,
    confirm,
    false_alarm_rate,
    flagged_criticals,
)

ANY, TESTED = Rules(critical=CriticalRule.any), Rules(critical=CriticalRule.tested)


def case(case_id, before, after, *, critical=False, **kwargs):
    return PairedCase(case_id, critical, tuple(before), tuple(after), **kwargs)


def winning(*others):
    """Nine clear wins, which would be accepted, and some further cases."""
    return [*(case(f"won-{i}", (0,) * 3, (1,) * 3) for i in range(9)), *others]


NUT = case("nut-allergy", (1, 1, 1), (1, 0, 1), critical=True)


def fresh(before, after, case_id="nut-allergy"):
    runs = (tuple([1.0] * passed + [0.0] * (5 - passed)) for passed in (before, after))
    return {case_id: PairedCase(case_id, True, *runs)}


def test_only_critical_cases_that_scored_lower_are_flagged():
    cases = winning(NUT, case("same", (1, 0, 1), (1, 1, 0), critical=True), case("plain", (1,) * 3, (0,) * 3))
    assert flagged_criticals(cases, Rules()) == flagged_criticals(cases, TESTED) == ("nut-allergy",)
    assert flagged_criticals(cases, ANY) == ()


def test_a_difference_below_a_hundredth_flags_nothing():
    cases = [case("a", (0.904,) * 3, (0.9,) * 3, critical=True)]
    assert flagged_criticals(cases, Rules()) == ()


def test_a_flagged_case_that_holds_on_fresh_runs_does_not_veto_but_is_shown():
    confirmation = confirm(winning(NUT), fresh(5, 5), Rules())
    assert confirmation.decision.verdict is Verdict.ACCEPT
    (finding,) = confirmation.criticals
    assert (finding.verdict, finding.before, finding.after) == ("flagged, held on rerun", (1, 1, 1), (1, 0, 1))
    assert finding.rerun_after == (1,) * 5


def test_a_case_that_is_lower_on_fresh_runs_too_rejects():
    confirmation = confirm(winning(NUT), fresh(5, 4), Rules())
    assert confirmation.decision.verdict is Verdict.REJECT
    assert confirmation.decision.rule == "critical-regressed"
    assert confirmation.decision.reason == (
        "1 critical case got worse: nut-allergy (4 of 5 fresh runs passed after 5 of 5)."
    )


def test_only_fresh_runs_count_against_a_case():
    lost = case("nut-allergy", (1,) * 3, (0,) * 3, critical=True)
    assert confirm(winning(lost), fresh(4, 5), Rules()).decision.verdict is Verdict.ACCEPT


def test_graded_critical_cases_are_told_by_their_means():
    graded = case("dose", (0.9, 0.8, 1.0), (0.5, 0.5, 0.5), critical=True)
    rerun = {"dose": PairedCase("dose", True, (0.95,) * 5, (0.4,) * 5)}
    reason = confirm(winning(graded), rerun, Rules()).decision.reason
    assert reason == "1 critical case got worse: dose (mean 0.40 over 5 fresh runs after 0.95)."


def test_rule_any_rejects_at_once():
    confirmation = confirm(winning(NUT), {}, ANY)
    assert confirmation.decision.rule == "critical-regressed"
    assert "nut-allergy (2 of 3 runs passed after 3 of 3)" in confirmation.decision.reason


@pytest.mark.parametrize(("after", "verdict"), [(2, "flagged, held on rerun"), (1, "worse"), (0, "worse")])
def test_rule_tested_asks_for_an_unlikely_loss(after, verdict):
    confirmation = confirm(winning(NUT), fresh(5, after), TESTED)
    assert confirmation.criticals[0].verdict == verdict
    assert confirmation.criticals[0].p == pytest.approx({2: 0.083, 1: 0.024, 0: 0.004}[after], abs=5e-4)


def test_rule_tested_corrects_for_several_reruns():
    other = case("other", (1, 1, 1), (0, 1, 1), critical=True)
    reruns = fresh(5, 1) | fresh(5, 5, "other")
    confirmation = confirm(winning(NUT, other), reruns, TESTED)
    assert [finding.verdict for finding in confirmation.criticals] == ["worse", "flagged, held on rerun"]
    both = confirm(winning(NUT, other), fresh(5, 1) | fresh(5, 2, "other"), TESTED)
    assert [finding.p for finding in both.criticals] == pytest.approx([2 * 0.0238, 0.0833], abs=1e-3)


@pytest.mark.parametrize(
    "reruns", [{}, {"nut-allergy": PairedCase("nut-allergy", True, (1.0,) * 4, (1.0,) * 4)}], ids=["none", "four"]
)
def test_a_flagged_case_without_five_fresh_pairs_blocks(reruns):
    confirmation = confirm(winning(NUT), reruns, Rules())
    assert (confirmation.decision.verdict, confirmation.decision.rule) == (Verdict.BLOCKED, "missing-runs")
    assert "1 critical case looked worse and was not rerun in full (nut-allergy)" in confirmation.decision.reason
    assert confirmation.criticals[0].verdict == "missing"


@pytest.mark.parametrize("rules", [Rules(), ANY, TESTED], ids=["rerun", "any", "tested"])
def test_a_critical_case_that_did_not_run_blocks(rules):
    ties = [case(f"tie-{i}", (1,) * 3, (1,) * 3) for i in range(30)]
    absent = case("nut-allergy", (), (), critical=True, dropped_pairs=3, lost_before=3, lost_after=3)
    decision = confirm(winning(absent, *ties), {}, rules).decision
    assert (decision.verdict, decision.rule) == (Verdict.BLOCKED, "missing-runs")
    assert decision.reason == "1 critical case did not run (nut-allergy); nothing can be claimed."


def test_a_rerun_under_another_name_is_refused():
    with pytest.raises(ValueError, match="another case"):
        confirm(winning(NUT), {"nut-allergy": fresh(5, 5, "other")["other"]}, Rules())


def test_false_alarm_rates_of_the_rules():
    """Counted over every outcome; the first figures are those of spec/statistics.md 5.2."""
    assert false_alarm_rate(CriticalRule.any, 1, 5) == pytest.approx(0.09)
    assert false_alarm_rate(CriticalRule.any, 3, 5) == pytest.approx(0.20, abs=0.005)
    assert false_alarm_rate(CriticalRule.any, 5, 5) == pytest.approx(0.27, abs=0.005)
    assert false_alarm_rate(CriticalRule.rerun, 3, 5) == pytest.approx(0.055, abs=0.0005)
    assert false_alarm_rate(CriticalRule.tested, 3, 5) < 0.001
    assert false_alarm_rate(CriticalRule.any, 3, 5, rate=1.0) == 0


def test_the_rerun_rate_is_the_share_of_all_runs_that_really_reject():
    """Weigh every outcome of 3 and 5 paired runs by its chance and put it through the decision itself."""

    def outcomes(n, rate=0.9):
        for before in range(2**n):
            for after in range(2**n):
                runs = tuple(tuple(float(bits >> i & 1) for i in range(n)) for bits in (before, after))
                passed = before.bit_count() + after.bit_count()
                yield runs, rate**passed * (1 - rate) ** (2 * n - passed)

    flagged = sum(
        weight for runs, weight in outcomes(3) if flagged_criticals([case("a", *runs, critical=True)], Rules())
    )
    first = case("a", (1, 1, 1), (0, 0, 0), critical=True)
    lower = {}
    for runs, weight in outcomes(5):
        key = tuple(map(sum, runs))
        lower[key] = (lower[key][0] + weight if key in lower else weight, runs)
    rejected = sum(
        weight
        for weight, runs in lower.values()
        if confirm([first], {"a": case("a", *runs, critical=True)}, Rules()).criticals[0].verdict == "worse"
    )
    assert flagged * rejected == pytest.approx(false_alarm_rate(CriticalRule.rerun, 3, 5))


# --- lost runs -------------------------------------------------------------------------------------------------------


def with_ties(n, *others):
    return winning(*(case(f"tie-{i}", (1,) * 3, (1,) * 3) for i in range(n)), *others)


def gone(case_id):
    return case(case_id, (), (), dropped_pairs=3, lost_before=3, lost_after=3)


def test_a_tenth_of_the_cases_may_be_missing_and_is_told():
    confirmation = confirm(with_ties(18, gone("a"), gone("b"), gone("c")), {}, Rules())
    assert confirmation.decision.verdict is Verdict.ACCEPT
    assert "(3 runs each; 3 cases without a valid pair left out)" in confirmation.decision.reason
    assert (confirmation.comparison.cases, confirmation.comparison.missing) == (27, 3)


def test_more_than_a_tenth_of_the_cases_missing_blocks():
    decision = confirm(with_ties(17, gone("a"), gone("b"), gone("c")), {}, Rules()).decision
    assert (decision.verdict, decision.rule) == (Verdict.BLOCKED, "missing-runs")
    assert decision.reason == "3 of 29 holdout cases did not run; nothing can be claimed."


def thin(case_id, lost_before, lost_after):
    return case(case_id, (1,), (1,), dropped_pairs=2, lost_before=lost_before, lost_after=lost_after)


def test_more_than_a_tenth_of_the_paired_runs_missing_blocks():
    decision = confirm(with_ties(6, *(thin(f"thin-{i}", 1, 1) for i in range(5))), {}, Rules()).decision
    assert decision.reason == "10 of 60 paired runs of 20 holdout cases gave no score; nothing can be claimed."


def test_runs_lost_in_one_arm_block_earlier():
    even, uneven = [thin(f"thin-{i}", 1, 1) for i in range(2)], [thin(f"thin-{i}", 0, 2) for i in range(2)]
    assert confirm(with_ties(9, *even), {}, Rules()).decision.verdict is Verdict.ACCEPT
    decision = confirm(with_ties(9, *uneven), {}, Rules()).decision
    assert (decision.verdict, decision.rule) == (Verdict.BLOCKED, "missing-runs")
    assert "0 runs were lost before and 4 after" in decision.reason


def test_an_imbalance_of_exactly_a_twentieth_is_still_allowed():
    half = case("half", (1, 1), (1, 1), dropped_pairs=1, lost_before=0, lost_after=1)
    assert confirm(with_ties(9, thin("thin", 0, 2), half), {}, Rules()).decision.verdict is Verdict.ACCEPT


def test_when_nobody_says_in_which_arm_runs_were_lost_the_worst_is_assumed():
    untold = [case(f"thin-{i}", (1,), (1,), dropped_pairs=2) for i in range(2)]
    assert confirm(with_ties(9, *untold), {}, Rules()).decision.rule == "missing-runs"
    assert confirm(with_ties(40, *untold), {}, Rules()).decision.verdict is Verdict.ACCEPT


def test_repeats_that_nobody_reported_are_missing_too():
    short = [case(f"won-{i}", (0,), (1,)) for i in range(9)]
    assert confirm(short, {}, Rules()).decision.rule == "missing-runs"
    assert confirm(short, {}, Rules(repeats=1)).decision.verdict is Verdict.ACCEPT
