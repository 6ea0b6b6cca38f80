"""Scenarios: the level ladder, who has which fault, and what the task says."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.records import SPLITS
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.tasks import make_task

LADDER = {"e1": "A", "e2": "AT", "e3": "AB", "m1": "APT", "m2": "ALM", "h1": "AGLPT"}


@pytest.fixture(scope="module")
def many(recipe):
    return [
        Scenario(recipe, level, split, draw, "lean") for split in SPLITS for draw in range(8) for level in recipe.levels
    ]


def test_each_level_has_its_faults_and_each_fault_an_entity_of_its_own(many):
    for one in many:
        kinds = "".join(sorted(fault.kind for fault in one.plan))
        assert kinds == LADDER[one.level]
        assert len({fault.record for fault in one.plan}) == len(one.plan)
        assert {fault.record for fault in one.plan} <= {record["id"] for record in one.records}


def test_the_entities_of_a_task_differ_in_all_that_a_lookup_asks_for(many):
    for one in many:
        for key in ("id", "category", "area", "key"):
            assert len({record[key] for record in one.records}) == one.rung.entities


def test_only_the_level_with_the_fault_meets_it(many):
    for one in many:
        long = [record for record in one.records if len(one.world.group("category", record["category"])) > 35]
        gaps = [record for record in one.records if record["area"] == "Unknown"]
        doubles = [record for record in one.records if record["namesake"]]
        assert (len(long), len(gaps), len(doubles)) == (
            "P" in LADDER[one.level],
            "G" in LADDER[one.level],
            "B" in LADDER[one.level],
        )


def test_fault_positions_vary_with_the_draw(many):
    for kind in "ATLPGMB":
        places = {
            [record["id"] for record in one.records].index(fault.record)
            for one in many
            for fault in one.plan
            if fault.kind == kind
        }
        assert len(places) > 2


def test_the_plan_is_fixed_before_the_run_and_is_json(many):
    for one in many:
        again = Scenario(one.spec, one.level, one.split, one.draw, one.profile)
        assert [fault.to_json() for fault in one.plan] == [fault.to_json() for fault in again.plan]
        json.dumps([fault.to_json() for fault in one.plan])


def test_the_fault_free_twin_keeps_only_what_must_be_known(recipe):
    for level in recipe.levels:
        twin = Scenario(recipe, level, "feedback", 0, "lean", faults=False)
        assert {fault.kind for fault in twin.plan} <= {"A", "B"}
        assert len(twin.records) == recipe.levels[level].entities


def test_a_world_without_a_fitting_entity_is_a_clear_error(recipe):
    one = Scenario(recipe, "h1", "feedback", 0, "lean")
    world = one.world
    one.__dict__["world"] = type(world)(world.version, world.split, world.draw, world.records[:2], world.grouped)
    with pytest.raises(ConfigError, match="family recipe: no entity with trait"):
        _ = one.records


def test_case_numbers_run_through_the_splits(recipe):
    slugs = [
        Scenario(recipe, "h1", split, draw, "lean").slug for split in SPLITS for draw in range(recipe.draws[split])
    ]
    assert slugs == [f"h1-0{number}" for number in range(1, 10)]


def test_the_prompt_lists_every_dish_with_its_hints(many):
    for one in many:
        for record in one.records:
            kitchen = one.truth[one.titles[record["id"]]]["cuisine"]
            shown = kitchen if isinstance(kitchen, str) else "not given"
            assert f"| {one.titles[record['id']]} | {shown} | {record['key']} |" in one.prompt
        assert one.prompt.startswith(f"# Recipe cookbook: {len(one.records)} dishes x {len(one.rung.tools)} lookups\n")
        assert '{"unavailable": true}' in one.prompt


def test_the_example_is_about_another_dish_and_hides_two_keys(many):
    for one in many:
        line = next(line for line in one.prompt.splitlines() if line.startswith('{"recipes"'))
        entry = json.loads(line)["recipes"][0]
        assert entry["name"] not in one.titles.values()
        assert not {"category_dishes", "cuisine_dishes"} & entry.keys()


def test_the_stale_plan_contradicts_the_task(many):
    for one in many:
        plan = json.loads(one.files["plan.json"])
        assert len(plan["dishes"]) == 6
        assert set(one.titles.values()) - set(plan["dishes"])
        assert set(plan["dishes"]) - set(one.titles.values())
        assert plan["output"] != one.spec.contract.file


def test_equal_tasks_have_equal_content_and_others_do_not(many):
    contents = [json.dumps(make_task(one).content, sort_keys=True) for one in many]
    assert len(set(contents)) == len(contents)
    again = Scenario(many[0].spec, many[0].level, many[0].split, many[0].draw, many[0].profile)
    assert json.dumps(make_task(again).content, sort_keys=True) == contents[0]
    assert json.loads(contents[0])["profile"] == "lean"


def test_every_fault_kind_occurs_often_enough_to_be_seen(many):
    counts = Counter(fault.kind for one in many for fault in one.plan)
    assert min(counts[kind] for kind in "ATLPGMB") >= 20
