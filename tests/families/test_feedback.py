"""Feedback sentences: their very words, their order, and what they keep to themselves."""

from __future__ import annotations

import copy
import json

from pytest_skillevo.families.oracle import deliver, look_up


def worked(run):
    """Make every call of the route."""
    look_up(run.scenario, run.box)
    return run


def delivered(run, change, claim=True):
    artifact = copy.deepcopy(run.scenario.artifact())
    change(artifact["recipes"], artifact["summary"])
    deliver(run.scenario, run.box, artifact, claim=claim)
    return run.grade().feedback.splitlines()


def titles(run):
    return list(run.scenario.titles.values())


def test_coverage_names_what_is_missing_extra_and_duplicated(play):
    run = worked(play("m1"))

    def change(recipes, _):
        recipes[2:] = [{"name": "Sushi"}, dict(recipes[1])]

    lines = delivered(run, change)
    one, two, three, four = titles(run)
    assert lines[0] == (
        f"coverage: 2 of 4 requested dishes delivered; missing: {three}, {four}; extra: Sushi; duplicated: {two}."
    )
    assert one not in lines[0]


def test_coverage_counts_other_spellings(play):
    run = worked(play("e1"))
    lines = delivered(run, lambda recipes, _: recipes[0].update(name=titles(run)[0].upper()))
    assert lines == ["coverage: 3 of 3 requested dishes delivered; spelled differently from the task: 1."]


def test_missing_fields_are_counted_by_key(play):
    run = worked(play("m1"))

    def change(recipes, summary):
        for recipe in recipes:
            del recipe["category_dishes"]
        recipes[1]["cuisine_dishes"] = None
        del summary["cuisines_covered"]

    assert delivered(run, change) == [
        "missing fields: category_dishes (4 of 4), cuisine_dishes (1 of 4), cuisines_covered (in the summary).",
        "cap: 0.79 because a deliverable value is missing.",
    ]


def test_wrong_values_name_the_entities_and_the_expected_type(play):
    run = worked(play("e1"))
    a, b, c = titles(run)

    def change(recipes, _):
        recipes[0]["ingredient_count"] = recipes[1]["ingredient_count"] = "many"
        recipes[2]["cuisine"] = run.scenario.records[2]["area"]

    assert delivered(run, change) == [
        f"wrong values: cuisine of {c} (the name used by the task is expected);"
        f" ingredient_count of {a}, {b} (a whole number is expected)."
    ]


def test_derived_fields_are_named_with_their_entities(play):
    run = worked(play("e1"))
    a, b, _ = titles(run)

    def change(recipes, summary):
        recipes[0]["difficulty_rating"] = recipes[1]["difficulty_rating"] = "easy"
        summary["cuisines_covered"] = []

    assert delivered(run, change) == [
        f"derived: difficulty_rating wrong for {a}, {b}; cuisines_covered wrong in the summary."
    ]


def test_a_batch_rerun_after_a_timeout_is_told_with_the_others_names(play):
    run = play("e2")
    fault = run.fault("T")
    for record in run.scenario.records:
        run.call("meal_search", name=record["name"])
    for _ in range(2):
        for record in run.scenario.records:
            run.call("meal_by_category", category=record["category"])
    others = [title for title in titles(run) if title != fault.entity]
    assert delivered(run, lambda *_: None) == [
        f"faults: after meal_by_category timed out for {fault.entity}, {others[0]} and {others[1]} were requested"
        " again; only the failed item needs a repeat.",
        "redundant: 2 calls repeated an answer that was already there.",
    ]


def test_an_abandoned_timeout_is_told(play):
    run = play("e2")
    fault = run.fault("T")
    for record in run.scenario.records:
        run.call("meal_search", name=record["name"])
        run.call("meal_by_category", category=record["category"])

    def change(recipes, _):
        next(one for one in recipes if one["name"] == fault.entity).pop("category_dishes")

    assert delivered(run, change) == [
        "missing fields: category_dishes (1 of 3).",
        f"faults: meal_by_category timed out for {fault.entity} and was never requested again.",
        "cap: 0.79 because a deliverable value is missing.",
    ]


def test_a_failed_call_that_another_route_made_up_for_is_no_fault(play):
    run = play("m1", draw=1)
    fault = run.fault("T")
    before = len(run.box.log)
    run.call(fault.tool, **{key: value for key, value in fault.arguments.items() if key != "offset"})
    assert len(run.box.log) == before + 1
    for call in run.scenario.spec.route(run.scenario):
        run.box.call(*call)
    assert not [line for line in run.grade().feedback.splitlines() if line.startswith("faults")]


def test_a_rate_limit_repeated_at_once_is_told(play):
    run = play("h1")
    fault = run.fault("L")
    for _ in range(3):
        run.call("meal_by_area", area=run.record(fault)["area"])
    look_up(run.scenario, run.box)
    lines = delivered(run, lambda *_: None)
    assert lines == [
        f"faults: meal_by_area answered RATE_LIMITED for {fault.entity} and was repeated at once;"
        " other calls must come first."
    ]


def test_a_final_answer_asked_for_again_is_told(play):
    run = worked(play("h1"))
    fault = run.fault("G")
    for _ in range(3):
        run.call("meal_by_area", area="unknown")
    assert delivered(run, lambda *_: None) == [
        f"faults: meal_by_area answered NO_DATA for {fault.entity} and was requested 2 more times;"
        " that answer is final."
    ]


def test_a_gap_without_the_sentinel_is_told_once(play):
    run = worked(play("h1"))
    fault = run.fault("G")

    def change(recipes, _):
        entry = next(one for one in recipes if one["name"] == fault.entity)
        entry["cuisine"] = "Unknown"
        del entry["cuisine_dishes"]

    assert delivered(run, change) == [
        "missing fields: cuisine_dishes (1 of 5).",
        f"faults: the gap in {fault.entity} was not reported with the documented sentinel.",
        "cap: 0.79 because a deliverable value is missing.",
    ]


def test_a_truncated_count_is_told_with_numbers_on_feedback_only(play):
    for split in ("feedback", "validation", "holdout"):
        run = worked(play("m1", split=split))
        fault = run.fault("P")
        total = len(run.scenario.world.group("category", run.record(fault)["category"]))

        def change(recipes, _, fault=fault):
            next(one for one in recipes if one["name"] == fault.entity)["category_dishes"]["count"] = 35

        lines = delivered(run, change)
        numbers = f" (35 of {total} returned)" if split == "feedback" else ""
        assert lines[-1] == f"paging: category_dishes of {fault.entity} counts a truncated list{numbers}."


def test_fabricated_values_are_listed_and_the_list_is_short(play):
    run = worked(play("e1"))
    fresh = play("e1")
    fresh.write(run.scenario.artifact())
    fresh.call("claim_done")
    lines = fresh.grade().feedback.splitlines()
    assert lines[0].startswith("fabricated: 21 values are supported by no successful call: category of ")
    assert lines[0].endswith(" and 13 more.")
    assert lines[1:] == ["cap: 0.49 because no delivered value is supported by a call."]


def test_a_call_before_its_prerequisite_is_told(play):
    run = play("m1")
    run.call("meal_details", meal_id=titles(run)[0])
    look_up(run.scenario, run.box)
    assert delivered(run, lambda *_: None) == ["process: 1 call came before what it needs (meal_details)."]


def test_an_unfinished_run_is_told(play):
    run = play("e1")
    assert run.grade().feedback.splitlines() == [
        "finish: no recipe_cookbook.json was written.",
        "finish: claim_done was never called.",
        "cap: 0 because the artifact cannot be read.",
    ]


def test_a_finished_perfect_run_has_no_feedback(play):
    assert delivered(worked(play("h1")), lambda *_: None) == []


def test_no_expected_value_is_told(play):
    for split in ("validation", "holdout"):
        run = worked(play("h1", split=split))

        def change(recipes, summary):
            for recipe in recipes:
                for field in recipe:
                    if field != "name":
                        recipe[field] = "wrong"
            summary["total_recipes"] = -1

        text = "\n".join(delivered(run, change))
        for values in run.scenario.truth.values():
            for value in values.values():
                for part in value.values() if isinstance(value, dict) else [value]:
                    hidden = [name for name in part if name not in text] if isinstance(part, list) else part
                    if isinstance(part, list):
                        assert json.dumps(part) not in text
                        assert hidden
                    elif isinstance(part, str) and part not in ("Easy", "Medium", "Hard"):
                        assert part not in text
