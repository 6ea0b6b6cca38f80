"""`--evolve-plan`: what would be run, paid and shown, on a screen of 80 columns."""

from __future__ import annotations

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.report.plan import Plan, plan_lines
from pytest_skillevo.report.text import columns

PLAN: Plan = {
    "skill": "recipe-cookbook",
    "model": "simulated",
    "simulated": True,
    "counts": {"feedback": 12, "validation": 12, "holdout": 30},
    "critical": 3,
    "fingerprint": "3f2a9c" + "0" * 58,
    "budget": {
        "rollouts": 800,
        "proposals": 21,
        "seed": 12,
        "per_proposal": 18,
        "confirmation_cases": 42,
        "repeats": 3,
        "critical_reruns": 30,
        "replay": 120,
        "transfer": 0,
    },
    "costs": [
        {"model": "simulated", "low": "0", "high": "0"},
        {"model": "gpt-x", "low": "3.10", "high": "6.4"},
    ],
    "power": {"cases": 30, "repeats": 3, "detectable": 0.1394, "gain": 0.05, "cases_needed": 224},
    "warnings": ["the seed already scores 0.97 on validation: little is left to win"],
}


def changed(**parts):
    plan = copy.deepcopy(PLAN)
    plan.update(parts)
    return plan


def test_a_plan_of_all_stages(snapshot):
    assert "\n".join(plan_lines(PLAN)) == snapshot


def test_a_plan_of_a_search_alone_with_an_unpriced_model(snapshot):
    budget = {**PLAN["budget"], "confirmation_cases": 0, "critical_reruns": 0, "replay": 0, "transfer": 0}
    plan = changed(
        model="local-7b",
        simulated=False,
        budget=budget,
        power=None,
        costs=[{"model": "local-7b", "low": None, "high": None}],
        warnings=[],
    )
    assert "\n".join(plan_lines(plan)) == snapshot


def test_too_few_holdout_cases_are_said_to_show_nothing():
    power = {"cases": 1, "repeats": 3, "detectable": None, "gain": 0.1, "cases_needed": 58}
    shown = " ".join(" ".join(plan_lines(changed(power=power))).split())
    assert "1 holdout case x 3 repeats can show no gain, whatever the results; a 10-point gain needs" in shown


def test_a_cost_known_on_one_side_only_is_half_unknown():
    lines = plan_lines(changed(costs=[{"model": "m", "low": "1", "high": None}]))
    assert any("1.00 to unknown with m" in line for line in lines)


def test_no_cost_at_all_is_unknown_not_zero():
    assert any(line.split() == ["cost", "unknown"] for line in plan_lines(changed(costs=[])))


@pytest.mark.parametrize("plan", [PLAN, changed(warnings=["x" * 500] * 3)])
def test_the_last_line_says_that_nothing_was_run(plan):
    lines = plan_lines(plan)
    assert lines[-1] == "nothing was run"
    assert all(columns(line) <= 80 for line in lines)


@settings(deadline=None)
@given(st.text(st.characters(codec=None), max_size=200) | st.just("::error::x") | st.just("##[error]x"))
def test_hostile_names_and_warnings_cannot_leave_their_place(text):
    plan = changed(skill=text, model=text, simulated=False, fingerprint=text, warnings=[text, "::error::" + text])
    for line in plan_lines(plan):
        assert line.isprintable()
        assert columns(line) <= 80
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
