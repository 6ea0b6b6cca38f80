"""What is handed over, what is never changed, and what is kept back for later stages."""

from __future__ import annotations

from decimal import Decimal

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.gepa import ReflectionRequest, SearchSettings
from pytest_skillevo.core.gepa.pool import Pool
from pytest_skillevo.core.records import Evaluation, RolloutRequest, Usage
from pytest_skillevo.core.skill import Skill

from .driver import REFLECTION_USAGE, always_better, answer_text, by_length, cases, current_text, search, seed_skill

VALIDATION = tuple(f"v-{n}" for n in range(8))


def pool(*rows: list[float]) -> Pool:
    """The seed, then ever longer skills, with these scores."""
    made = Pool(VALIDATION)
    for place, row in enumerate(rows):
        skill = seed_skill(["Open the file.", *(f"Look at part {n}." for n in range(place))])
        made.add(skill, dict(zip(VALIDATION, row, strict=True)), iteration=place, parent=0 if place else None)
    return made


def test_one_standard_error_takes_the_shortest_version_that_may_be_as_good():
    lucky = [1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    assert pool([0.5] * 8, lucky).pick().iteration == 1
    assert pool([0.5] * 8, lucky).pick_plain().iteration == 0


def test_one_standard_error_keeps_a_gain_that_every_case_shows():
    chosen = pool([0.5] * 8, [0.8] * 8, [0.8] * 7 + [0.81])
    assert chosen.pick().iteration == 2
    assert chosen.pick_plain().iteration == 1


def test_the_pick_of_the_settings_decides_the_winner():
    def lucky(skill: Skill, request: RolloutRequest) -> float:
        if request.phase != "validation":
            return by_length(skill, request)
        return 0.5 if "Check" not in skill.text else float(request.case_id in ("v-0", "v-1", "v-2"))

    for pick, wins in (("best", False), ("one-se", True)):
        result, _ = search(lucky, always_better, dataset=cases(6, 5), iterations=1, pick=pick)
        assert (result.winner == result.seed) is wins


def test_two_rules_for_the_pick_are_refused_together():
    with pytest.raises(ConfigError, match="'one-se' does not go with an epsilon"):
        SearchSettings(pick="one-se", epsilon=0.1)
    with pytest.raises(ConfigError, match="pick must be one of best, one-se"):
        SearchSettings(pick="last")


@pytest.mark.parametrize("method", ["gepa", "best-of-n"])
def test_frozen_components_are_passed_over(method: str):
    _, log = search(iterations=6, frozen=("description", "steps"), method=method, threshold=None)
    asked = [request.component for request in log.requests if isinstance(request, ReflectionRequest)]
    assert len(asked) == 6
    assert set(asked) == {"pitfalls", "when_to_use"}


@pytest.mark.parametrize(
    ("frozen", "words"),
    [
        (("stepps",), "no component 'stepps' that could be frozen. Did you mean 'steps'?"),
        (("steps", "pitfalls", "when_to_use", "description"), "every component .* is frozen"),
    ],
)
def test_what_cannot_be_frozen_is_refused_before_anything_runs(frozen: tuple[str, ...], words: str):
    with pytest.raises(ConfigError, match=words):
        search(frozen=frozen)


def test_an_objective_may_be_better_the_higher_it_is():
    def evaluate(skill: Skill, request: RolloutRequest) -> Evaluation:
        return Evaluation(by_length(skill, request), objectives={"coverage": 3.0})

    result, _ = search(evaluate, iterations=0, cost="coverage:max", frontier="hybrid")
    assert result.pool[0].cost == -3.0
    with pytest.raises(ConfigError, match="reports no objective 'speed'"):
        search(evaluate, iterations=0, cost="speed:max", frontier="hybrid")


def test_a_text_that_collapses_is_rejected_with_both_sizes():
    long = seed_skill(["Open the file. " * 20, "Find the table. " * 20])
    reflect = lambda request: answer_text(request.component, "1. Do it well.")  # noqa: E731
    result, _ = search(reflect=reflect, skill=long, iterations=1)
    assert "it shrinks from" in result.events[1].verdict
    assert result.events[1].kind == "reflection_rejected"


def test_above_the_target_size_the_model_is_asked_to_shorten():
    for target, asked in ((100, True), (10_000, False)):
        _, log = search(iterations=1, target_chars=target)
        (request,) = [request for request in log.requests if isinstance(request, ReflectionRequest)]
        assert ("shorten it where nothing is lost" in request.messages[0]["content"]) is asked
        assert current_text(request)


def spends(skill: Skill, request: RolloutRequest) -> Evaluation:
    return Evaluation(by_length(skill, request), usage={"agent": Usage(8, 2, 0, 0, Decimal("0.10"))})


def test_the_search_leaves_tokens_for_what_must_follow():
    later = {"reserve_rollouts": 20, "reserve_calls": 2}
    cap = 1000
    free, _ = search(spends, iterations=99, max_tokens=cap, max_rollouts=None, threshold=None)
    kept, _ = search(spends, iterations=99, max_tokens=cap, max_rollouts=None, threshold=None, **later)
    call = REFLECTION_USAGE.tokens
    assert call is not None
    assert free.tokens is not None
    assert kept.tokens is not None
    assert kept.tokens + 20 * 10 + 2 * call <= cap < free.tokens + 20 * 10 + 2 * call
    assert kept.stop_reason == "token_budget"
    assert "what follows the search 440" in kept.stop_detail


def test_a_declared_price_of_a_rollout_keeps_the_cap_from_the_first_rollout_on():
    money = {"max_usd": Decimal("1.00"), "rollout_usd": Decimal("0.10"), "reserve_rollouts": 7}
    result, log = search(spends, dataset=cases(6, 4), **money)
    assert result.stop_reason == "usd_budget"
    # The first rollout shows whether usage is reported; the other three would leave too little for what follows.
    assert log.rollouts == 1
