"""The strict score: parts, caps, malformed artifacts, monotony."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.core.errors import EvaluationError
from pytest_skillevo.core.records import NO_USAGE, AgentRun
from pytest_skillevo.families.oracle import deliver, look_up, run_script
from pytest_skillevo.families.registry import load_family
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.strict import WEIGHTS, score_strict
from pytest_skillevo.families.tasks import grade, make_task

RECIPE = Path(__file__).parents[2] / "suites" / "recipe" / "family.py"
SENTINEL = {"unavailable": True}


@cache
def called(level):
    """A scenario and its toolbox after all calls of the route."""
    scenario = Scenario(load_family(RECIPE), level, "feedback", 0, "lean")
    box = scenario.open()
    look_up(scenario, box)
    return scenario, box


def honest(level, artifact, claim=True):
    """The strict score of a run that made all calls and delivered this artifact (a function of the perfect one)."""
    scenario, box = called(level)
    box.files[scenario.spec.contract.file] = json.dumps(artifact(copy.deepcopy(scenario.artifact())))
    box.done = claim
    return score_strict(scenario, box)


def change(**fields):
    """Change fields of the first entry."""

    def apply(artifact):
        artifact["recipes"][0].update(fields)
        return artifact

    return apply


def drop(*fields):
    def apply(artifact):
        for field in fields:
            del artifact["recipes"][0][field]
        return artifact

    return apply


def test_the_weights_add_up_to_a_hundred():
    assert sum(WEIGHTS.values()) == 100


def test_one_wrong_value_costs_its_share_of_the_values():
    score = honest("e1", change(category="Nowhere"))
    assert score.score == pytest.approx(1 - 0.40 / 15)
    assert score.capped is None
    assert score.passed


def test_a_wrong_derived_value_costs_its_share_of_the_derived_part():
    assert honest("e1", change(difficulty_rating="?")).score == pytest.approx(1 - 0.15 / 8)


def test_a_wrong_type_is_a_wrong_value():
    assert honest("e1", change(ingredient_count="7")).parts["values"] < 40


def test_a_missing_value_caps_the_run():
    score = honest("e1", drop("cuisine_dishes"))
    assert (score.score, score.capped) == (0.79, (0.79, "a deliverable value is missing"))
    assert not score.passed


def test_null_and_a_wrong_sentinel_count_as_missing():
    assert honest("e1", change(category=None)).capped is not None
    assert honest("e1", change(cuisine=SENTINEL)).capped == (0.79, "a deliverable value is missing")


def test_a_missing_summary_caps_the_run():
    assert honest("e1", lambda artifact: {"recipes": artifact["recipes"]}).score == 0.79


def test_a_value_without_a_call_is_fabricated_even_if_it_is_right(play):
    run = play("e1")
    for record in run.scenario.records[1:]:
        run.call("meal_search", name=record["name"])
        run.call("meal_by_category", category=record["category"])
        run.call("meal_by_area", area=record["area"])
    run.write(run.scenario.artifact())
    run.call("claim_done")
    score = score_strict(run.scenario, run.box)
    title = run.scenario.titles[run.scenario.records[0]["id"]]
    assert {name for _, name in score.claims.fabricated} == {title}
    assert score.score == 0.69
    assert score.capped == (0.69, "a delivered value is fabricated")


def test_a_listing_by_ingredient_is_no_evidence_of_the_number_of_ingredients(play):
    run = play("e2")
    for record in run.scenario.records:
        run.call("meal_by_ingredient", ingredient=record["key"])
    run.write(run.scenario.artifact())
    fabricated = {name for name, _ in score_strict(run.scenario, run.box).claims.fabricated}
    assert fabricated == {"ingredient_count", "category_dishes", "difficulty_rating", "estimated_cooking_time_min"}


def test_a_made_up_value_is_no_better_under_a_foreign_name(play):
    run = play("e1")
    look_up(run.scenario, run.box)
    artifact = run.scenario.artifact()
    stranger = next(
        one for one in run.scenario.world.records if one["key"] not in {r["key"] for r in run.scenario.records}
    )
    for name in (stranger["name"], "Zzz Pot", None):
        extra = {"name": name, "ingredient_count": 5}
        deliver(run.scenario, run.box, artifact | {"recipes": [*artifact["recipes"], extra]}, claim=False)
        assert score_strict(run.scenario, run.box).claims.fabricated == (("ingredient_count", name or "(no name)"),)


def test_an_extra_dish_that_was_looked_up_is_extra_and_not_fabricated(play):
    run = play("e1")
    look_up(run.scenario, run.box)
    artifact = run.scenario.artifact()
    stranger = next(one for one in run.scenario.world.records if one["id"] not in run.scenario.titles)
    run.call("meal_search", name=stranger["name"])
    extra = {"name": stranger["name"], "ingredient_count": len(stranger["ingredients"])}
    deliver(run.scenario, run.box, artifact | {"recipes": [*artifact["recipes"], extra]})
    score = score_strict(run.scenario, run.box)
    assert score.claims.fabricated == ()
    assert score.score == pytest.approx(1 - 0.15 * (1 - 6 / 7))


def test_a_guess_at_a_gap_is_fabricated_and_the_tools_own_word_is_only_wrong():
    def fill(value):
        def apply(artifact):
            next(entry for entry in artifact["recipes"] if entry["cuisine"] == SENTINEL)["cuisine"] = value
            return artifact

        return apply

    assert honest("h1", fill("Velran")).score == 0.69
    copied = honest("h1", fill("Unknown"))
    assert copied.claims.fabricated == ()
    assert copied.claims.wrong[0][0] == "cuisine"
    assert copied.score > 0.9


def test_without_claim_done_a_run_is_capped():
    assert honest("e1", lambda artifact: artifact, claim=False).capped == (0.89, "claim_done was never called")


def test_more_than_two_repeats_cap_the_run(play):
    for repeats, limit in ((2, None), (3, (0.89, "more than two calls were redundant"))):
        run = play("e1")
        look_up(run.scenario, run.box)
        for _ in range(repeats):
            run.call("meal_by_area", area=run.scenario.records[0]["area"])
        deliver(run.scenario, run.box, run.scenario.artifact())
        score = score_strict(run.scenario, run.box)
        assert score.process.redundant == repeats
        assert score.parts["process"] == pytest.approx(10 * (1 - 0.2 * repeats))
        assert score.capped == limit


def test_reading_the_workspace_again_is_no_redundant_call(play):
    run = play("e1")
    for _ in range(5):
        run.call("read_file", path="reference/recipe.md")
    assert score_strict(run.scenario, run.box).process.errors == 0


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is not valid JSON"),
        ('{"recipes": [', "is not valid JSON"),
        ('{"recipes": [],}', "is not valid JSON"),
        ('```json\n{"recipes": []}\n```', "is not valid JSON"),
        ('{"recipes": [{"name": "it\\\'s"}]}', "is not valid JSON"),
        ('{"recipes": [{"ingredient_count": NaN}]}', "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("[]", "is not a JSON object"),
        ("null", "is not a JSON object"),
        ("7", "is not a JSON object"),
        ("{}", "has no list 'recipes'"),
        ('{"recipes": null}', "has no list 'recipes'"),
        ('{"recipes": {"a": {}}}', "has no list 'recipes'"),
    ],
)
def test_an_unreadable_artifact_is_worth_nothing_and_says_why(play, text, problem):
    run = play("e1")
    run.write(text)
    score = score_strict(run.scenario, run.box)
    assert (score.score, score.artifact.problem) == (0.0, problem)
    assert run.grade().feedback.splitlines()[0] == f"artifact: recipe_cookbook.json {problem}."


@pytest.mark.parametrize(
    ("change_names", "found", "exact", "missing", "extra", "duplicated"),
    [
        (lambda names: names[::-1], 3, 3, 0, 0, 0),
        (lambda names: [names[0].upper(), f" {names[1]} ", names[2]], 3, 1, 0, 0, 0),
        (lambda names: [names[0], names[0], names[0]], 1, 1, 2, 0, 1),
        (lambda names: [*names, "Zzz Pot"], 3, 3, 0, 1, 0),
        (lambda names: ["", None, 7], 0, 0, 3, 3, 0),
        (lambda names: [names[0].lower(), *names], 3, 3, 0, 0, 1),
    ],
)
def test_delivered_names_are_matched_exactly_first(change_names, found, exact, missing, extra, duplicated):
    def apply(artifact):
        entries = artifact["recipes"]
        names = change_names([entry["name"] for entry in entries])
        artifact["recipes"] = [{**entries[place % len(entries)], "name": name} for place, name in enumerate(names)]
        return artifact

    coverage = honest("e1", apply).coverage
    assert (len(coverage.entries), coverage.exact) == (found, exact)
    assert (len(coverage.missing), len(coverage.extra), len(coverage.duplicated)) == (missing, extra, duplicated)


def test_members_of_the_list_that_are_no_objects_are_reported_and_cost():
    def apply(artifact):
        artifact["recipes"] += ["x", None]
        return artifact

    score = honest("e1", apply)
    assert score.artifact.strangers == 2
    assert score.parts["artifact"] == 0.0
    assert score.coverage.f1 == pytest.approx(2 * 3 / (3 + 3 + 2))


def test_the_evaluation_carries_both_scores_named(play):
    evaluation = play("e1").grade()
    assert set(evaluation.objectives) >= {"official", "strict", "passed70", "passed90", "calls", "redundant_calls"}
    assert evaluation.trace["official_status"] == "fail"
    assert evaluation.trace["profile"] == "lean"
    json.dumps(evaluation.trace, allow_nan=False)


def test_the_trace_is_bounded(play):
    run = play("e1")
    for number in range(200):
        run.call("meal_search", name=f"x{number}")
    run.write("x" * 100_000)
    trace = run.grade().trace
    assert (len(trace["calls"]), trace["calls_left_out"]) == (60, 141)
    assert len(trace["artifact"]) == 4000


def test_grading_a_run_with_other_tools_is_refused(recipe):
    task = make_task(Scenario(recipe, "e1", "feedback", 0, "lean"))
    with pytest.raises(EvaluationError, match="recipe e1-01: grade"):
        task.grade(AgentRun("", (), [], NO_USAGE, 1, "answered"))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(SENTINEL),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["count", "top3", "recipes", "summary", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)
FIELDS = (
    *("name", "category", "cuisine", "ingredient_count", "category_dishes", "cuisine_dishes"),
    *("difficulty_rating", "estimated_cooking_time_min"),
)


@settings(max_examples=150)
@given(
    artifact=JUNK
    | st.fixed_dictionaries(
        {"recipes": JUNK | st.lists(st.dictionaries(st.sampled_from(FIELDS), JUNK)), "summary": JUNK}
    )
)
def test_no_artifact_makes_the_scorer_fail(artifact):
    scenario = Scenario(load_family(RECIPE), "h1", "feedback", 0, "lean")
    box = scenario.open()
    box.call("write_file", {"path": "recipe_cookbook.json", "content": json.dumps(artifact)})
    evaluation = grade(scenario, AgentRun("", (), box, NO_USAGE, 1, ""))
    assert 0.0 <= evaluation.score <= 0.89


@settings(max_examples=150)
@given(
    level=st.sampled_from(["e1", "e2", "e3", "m1", "m2", "h1"]),
    wrong=st.dictionaries(st.tuples(st.integers(0, 4), st.sampled_from(FIELDS)), JUNK, min_size=1, max_size=6),
    data=st.data(),
)
def test_correcting_a_wrong_value_never_lowers_the_score(level, wrong, data):
    damaged = {(place % {"e": 3, "m": 4, "h": 5}[level[0]], field): value for (place, field), value in wrong.items()}
    # In an entry without its name no value is right: there the name is what can be corrected.
    can_be_right = [(place, field) for place, field in damaged if field == "name" or (place, "name") not in damaged]
    corrected = data.draw(st.sampled_from(sorted(can_be_right)))

    def damage(places):
        def apply(artifact):
            for place, field in places:
                if field in artifact["recipes"][place]:
                    artifact["recipes"][place][field] = damaged[place, field]
            return artifact

        return apply

    before = honest(level, damage(damaged))
    after = honest(level, damage([one for one in damaged if one != corrected]))
    assert after.score >= before.score


def test_a_perfect_run_is_perfect_however_its_answers_are_ordered(recipe):
    scenario = Scenario(recipe, "m2", "holdout", 1, "lean")

    def backwards(task, box, prompt):
        for call in reversed(task.spec.route(task)):
            while json.loads(box.call(*call)).get("code") == "RATE_LIMITED":
                for _ in range(3):
                    box.call("list_files", {})
        deliver(task, box, task.artifact())

    assert grade(scenario, run_script(scenario, backwards)).score == 1.0
