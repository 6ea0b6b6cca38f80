"""What a budget buys, and which tasks a replay runs."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.records import SPLITS, Case, Split
from pytest_skillevo.stages.dataset import Dataset
from pytest_skillevo.stages.plan import make_plan
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
