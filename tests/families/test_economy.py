"""What is special in the economy family: two codes, one common year, units, a snapshot that may never answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_skillevo.core.records import NO_USAGE, SPLITS, AgentRun
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.families.oracle import look_up
from pytest_skillevo.families.registry import load_family, tasks
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.spec import world_of
from pytest_skillevo.families.tasks import grade
from pytest_skillevo.models.simulated.complaints import read_complaints

ROOT = Path(__file__).parents[2]
SKILLS = ("economic-snapshot", "country-codes", "slow-statistics")
VARIANTS = ROOT / "tests" / "data" / "skills_economy"
GDP, SNAPSHOT = "worldbank_gdp", "worldbank_economic_snapshot"


@pytest.fixture(scope="module")
def economy():
    return load_family(ROOT / "suites" / "economy" / "family.py")


@pytest.fixture
def scenario(economy):
    def make(level, draw=0, profile="lean", split="feedback"):
        return Scenario(economy, level, split, draw, profile)

    return make


def call(box, tool, code, **more):
    return json.loads(box.call(tool, {"country_code": code, **more}))


def delivered(scenario, change=lambda artifact: artifact, box=None):
    """The evaluation of the truth with a change, after the calls of the route."""
    if box is None:
        box = scenario.open()
        look_up(scenario, box)
    content = json.dumps(change(scenario.artifact()))
    box.call("write_file", {"path": "economic_snapshot.json", "content": content})
    box.call("claim_done", {})
    return grade(scenario, AgentRun("", (), box, NO_USAGE, 1, "finished"))


def edited(record, title, **values):
    """Changes the entry of one economy."""

    def change(artifact):
        rows = [row | values if row["country_code"] == title else row for row in artifact["economies"]]
        return artifact | {"economies": rows}

    return change


def victim(scenario, kind):
    fault = next(fault for fault in scenario.plan if fault.kind == kind)
    return scenario.world.by_id[fault.record], fault.entity


def test_codes_are_unique_in_all_splits_and_none_is_real(economy):
    owner = {}
    for split in SPLITS:
        for draw in range(economy.draws[split]):
            found = [code for one in world_of(economy, split, draw).records for code in one["codes"]]
            assert len(set(found)) == len(found) == 80
            assert all(owner.setdefault(code, split) == split for code in found)
    assert owner.keys().isdisjoint({"CHN", "CN", "JP"})
    assert not set("".join(owner)) & set("AEIOU")


def test_no_two_economies_have_the_same_gdp_in_any_year(economy):
    for draw in range(5):
        records = world_of(economy, "holdout", draw).records
        values = [value for one in records for value in one["gdp"]]
        assert len(set(values)) >= len(values) - 5 * len(YEARS)
        for year in YEARS:
            assert len({one["gdp"][year] for one in records}) == len(records)


YEARS = range(5)


def test_either_code_asks_for_the_same_economy_so_a_fault_and_a_repeat_know_no_way_around(scenario):
    one = scenario("e2")
    record, _ = victim(one, "T")
    box = one.open()
    assert call(box, GDP, record["short"].lower())["code"] == "TIMEOUT"
    assert call(box, GDP, record["code"])["country_code"] == record["code"]
    call(box, GDP, f" {record['short']} ")
    assert [entry.attempt for entry in box.log] == [1, 2, 3]
    assert grade(one, AgentRun("", (), box, NO_USAGE, 1, "finished")).objectives["redundant_calls"] == 1


def test_the_code_of_the_service_is_no_code_of_the_task_but_no_invention_either(scenario):
    one = scenario("e3")
    record, title = victim(one, "A")
    evaluation = delivered(one, edited(record, title, country_code=record["code"]))
    assert title == record["short"]
    assert (
        f"missing: {title}; extra: {record['code']}; under the source's name: {record['code']}" in evaluation.feedback
    )
    assert "fabricated" not in evaluation.feedback
    assert {"titles"} == {complaint.remedy for complaint in read_complaints(evaluation.feedback)}
    assert evaluation.objectives["official"] < 1


def test_all_figures_belong_to_the_latest_year_for_which_all_have_a_gdp(scenario):
    seen = set()
    for draw in range(8):
        for level in ("e1", "m1", "h1"):
            one = scenario(level, draw)
            years = [set(range(2018, 2023)) - set(record["missing"]) for record in one.records]
            expected = max(set.intersection(*years))
            assert {values["year"] for values in one.truth.values()} == {expected}
            seen.add(expected)
    assert seen == {2020, 2021, 2022}


def test_the_newest_value_of_an_economy_is_wrong_where_the_others_lack_its_year(scenario):
    one, record = next(
        (one, record)
        for one in (scenario("e1", draw) for draw in range(9))
        for record in one.records
        if 2022 not in record["missing"] and one.truth[one.titles[record["id"]]]["year"] != 2022
    )
    evaluation = delivered(one, edited(record, one.titles[record["id"]], year=2022))
    assert "the latest year common to all" in evaluation.feedback
    assert [complaint.remedy for complaint in read_complaints(evaluation.feedback)] == ["common year"]


def test_values_in_millions_are_wrong_until_they_are_scaled(scenario):
    one = scenario("m1")
    record, title = victim(one, "S")
    answer = call(one.open(), GDP, record["code"])
    assert answer["unit"] == "millions"
    figures = one.truth[title]["economic_indicators"]
    assert figures["gdp"] in [row["value"] * 1_000_000 for row in answer["values"]]
    small = figures | {"gdp": figures["gdp"] // 1_000_000}
    evaluation = delivered(one, edited(record, title, economic_indicators=small))
    assert "single units" in evaluation.feedback
    assert [complaint.remedy for complaint in read_complaints(evaluation.feedback)] == ["units"]


@pytest.mark.parametrize("level", ["m1", "m2", "h1"])
def test_where_the_snapshot_never_answers_the_series_have_the_same_values(scenario, level):
    one = scenario(level)
    record, title = victim(one, "R")
    box = one.open()
    assert all(call(box, SNAPSHOT, record["code"])["code"] == "TIMEOUT" for _ in range(4))
    assert box.seconds >= 4 * 30
    look_up(one, box)
    assert delivered(one, box=box).score == 1.0
    assert title in one.truth


def test_the_snapshot_answers_the_others_with_the_series_but_money_in_constant_prices(scenario):
    one = scenario("e1")
    box = one.open()
    for record in one.records:
        snapshot, gdp = call(box, SNAPSHOT, record["code"]), call(box, GDP, record["code"])
        assert [row["value"] for row in snapshot["historical_population"]][::-1] == record["population"]
        assert snapshot["economic_indicators"]["prices"].startswith("constant")
        assert snapshot["historical_gdp"] != [{k: row[k] for k in ("year", "value")} for row in gdp["values"]]


def test_an_economy_without_a_survey_is_a_gap_everywhere(scenario):
    one = scenario("h1")
    record, title = victim(one, "G")
    box = one.open()
    assert call(box, "worldbank_indicator", record["short"], indicator="sl.uem.totl.zs")["code"] == "NO_DATA"
    assert one.truth[title]["unemployment_rate"] == {"unavailable": True}
    guessed = delivered(one, edited(record, title, unemployment_rate=6.5))
    assert guessed.score <= 0.69
    assert f"the gap in {title}" in guessed.feedback


def test_a_snapshot_is_as_large_as_the_public_one_only_on_demand(scenario):
    sizes = {
        profile: len(one.open().call(SNAPSHOT, {"country_code": one.records[0]["code"]}))
        for profile in ("lean", "standard", "original")
        for one in [scenario("e1", profile=profile)]
    }
    assert sizes["lean"] < sizes["standard"] < 5_000
    assert 55_000 < sizes["original"] < 70_000


@pytest.mark.parametrize("name", SKILLS)
def test_every_variant_of_a_skill_is_structured_and_names_no_economy(economy, name):
    for folder in (ROOT / "fixtures" / "skills", VARIANTS / "good", VARIANTS / "corrupted"):
        skill = Skill.load(folder / name)
        assert (skill.name, skill.warnings) == (name, ())
        assert skill.spec is not None
        words = set(skill.text.replace(".", " ").replace(",", " ").split())
        assert not [watched for task in tasks(economy) for watched in task.watched if watched in words]


def test_the_seeds_have_the_known_weaknesses():
    snapshot, codes, slow = (Skill.load(ROOT / "fixtures" / "skills" / name) for name in SKILLS)
    assert "run the whole batch again" in snapshot.components["steps"]
    assert "estimate the figure" in snapshot.components["pitfalls"]
    assert "unemployment_rate" not in snapshot.text
    assert "report the code that the service gives" in codes.components["steps"]
    assert "rerun the whole batch" in slow.components["steps"]
    assert "put in a plausible value" in slow.components["pitfalls"]
