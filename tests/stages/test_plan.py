"""What a budget buys, and which tasks a replay runs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.records import SPLITS, Case, Split
from pytest_skillevo.stages.dataset import Dataset
from pytest_skillevo.stages.plan import Earlier, earlier_runs, make_plan, plan_figures
from pytest_skillevo.stages.replay import LADDER, sample_tasks
from pytest_skillevo.stages.settings import Settings


def dataset(feedback: int, validation: int, holdout: int, critical: int = 0, partial: str | None = None) -> Dataset:
    counts: dict[Split, int] = dict(zip(SPLITS, (feedback, validation, holdout), strict=True))
    cases = [
        Case(f"t.py::{split}-{n}", "demo", split, split == "holdout" and n < critical, content=f"{split}{n}")
        for split, count in counts.items()
        for n in range(count)
    ]
    return Dataset("demo", tuple(cases), partial)


def test_the_least_budget_pays_for_one_proposal_and_what_must_follow():
    cases = dataset(12, 12, 30, critical=3)
    plan = make_plan(cases, Settings(rollouts=1000))
    assert (plan.seed_validation, plan.per_proposal) == (12, 18)
    assert (plan.confirmation, plan.reruns, plan.replay) == (2 * 42 * 3, 30, 3 * 3 * 12)
    assert plan.least == 12 + 18 + 252 + 30 + 108
    with pytest.raises(ConfigError, match=r"at least 420 are needed \(12 seed \+ 18 for one proposal"):
        make_plan(cases, Settings(rollouts=plan.least - 1))


@given(st.integers(1, 20), st.integers(1, 20), st.integers(1, 40), st.integers(0, 5), st.integers(1, 5), st.booleans())
def test_search_and_reserve_share_the_budget_without_rest(
    feedback: int, validation: int, holdout: int, critical: int, repeats: int, partial: bool
):
    cases = dataset(feedback, validation, holdout, min(critical, holdout), "some" if partial else None)
    plan = make_plan(cases, Settings(rollouts=100_000, repeats=repeats))
    assert plan.search + plan.reserve == plan.budget
    assert (plan.reserve == 0) == partial
    tight = make_plan(cases, Settings(rollouts=plan.least, repeats=repeats))
    assert tight.proposals == 1


def test_a_missing_split_is_named_with_the_counts_and_the_partial_selection():
    with pytest.raises(ConfigError, match=r"no validation and no holdout case \(2 feedback, 0 validation, 0 holdout\)"):
        dataset(2, 0, 0).require(SPLITS)
    with pytest.raises(ConfigError, match=r"The selection is partial: -k"):
        dataset(2, 0, 1, partial="-k").require(("feedback", "validation"))


def test_the_fingerprint_sees_every_case_its_split_mark_and_content():
    base = dataset(2, 2, 3)
    changed = [
        replace(base.cases[0], content="other"),
        replace(base.cases[0], split="validation"),
        replace(base.cases[0], id="t.py::renamed"),
    ]
    prints = {Dataset("demo", (case, *base.cases[1:])).fingerprint for case in changed}
    assert len(prints | {base.fingerprint}) == 4
    assert Dataset("demo", base.cases[::-1]).fingerprint == base.fingerprint


def test_a_replay_spreads_its_tasks_over_the_levels_and_begins_with_the_easy_ones():
    cases = [Case(f"t.py::{level}-{n}", "demo", "holdout", level=level) for level in LADDER for n in range(5)]
    tasks = sample_tasks(cases, 12, 77)
    assert [task.level for task in tasks] == [level for level in LADDER for _ in range(2)]
    assert tasks == sample_tasks(cases[::-1], 12, 77)
    assert tasks != sample_tasks(cases, 12, 78)


@dataclass
class Model:
    name: str = "live"
    kind: str = "live"
    priced: bool = True


def finished(cases: Dataset, seed_score: float, usd: str | None, model: str = "live") -> dict[str, Any]:
    return {
        "experiment": {"id": "ex-1"},
        "model": {"name": model},
        "skill": {"before": "seed"},
        "dataset": {"fingerprint": cases.fingerprint},
        "search": {"seed_score": seed_score},
        "usage": {"agent": {"usd": usd}, "reflection": {"usd": "1"}},
        "rollouts": {"search": 30, "confirmation": 10, "critical_reruns": 0, "replay": 10},
    }


def warnings(cases: Dataset, earlier: Earlier | None = None, **settings: Any) -> str:
    return "\n".join(plan_figures(cases, Settings(**settings), Model(), earlier)["warnings"])


def test_earlier_runs_give_the_cost_of_a_rollout_and_the_score_of_the_same_seed_on_the_same_cases():
    cases, other = dataset(12, 12, 30), dataset(12, 13, 30)
    newest = finished(other, 0.2, None)
    earlier = earlier_runs([newest, finished(cases, 0.98, "4")], cases, "seed", "live")
    assert earlier == Earlier(0.98, "ex-1", Decimal("0.1"))
    assert earlier_runs([finished(cases, 0.98, "4", "other")], cases, "edited", "live") == Earlier()


def test_the_cost_is_a_range_from_the_first_proposal_to_the_whole_budget_and_unknown_without_a_price():
    cases = dataset(12, 12, 30)
    (cost,) = plan_figures(cases, Settings(), Model(), Earlier(usd_per_rollout=Decimal("0.1")))["costs"]
    assert (cost["low"], cost["high"]) == ("3.00", "100.00")
    assert plan_figures(cases, Settings(), Model())["costs"][0]["high"] is None
    assert plan_figures(cases, Settings(), Model("simulated", "simulated"))["costs"][0]["high"] == "0"


def test_a_nearly_perfect_seed_few_validation_cases_and_a_small_budget_are_warned_of():
    cases = dataset(20, 25, 40, critical=1)
    assert warnings(cases, rollouts=3000) == ""
    assert "scored 0.980 on these validation cases already (ex-1)" in warnings(
        cases, Earlier(0.98, "ex-1"), rollouts=3000
    )
    assert "on 12 validation cases looks better than it is" in warnings(dataset(20, 12, 40, critical=1), rollouts=3000)
    assert "15 times as many as cases" in warnings(cases, rollouts=700)
