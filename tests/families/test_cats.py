"""What is special in the cats family: names inside names, big answers with small blocks, relatives in pages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_skillevo.core.records import NO_USAGE, AgentRun
from pytest_skillevo.families.oracle import look_up
from pytest_skillevo.families.registry import load_family
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.spec import PROFILES
from pytest_skillevo.families.tasks import grade
from pytest_skillevo.models.simulated.complaints import read_complaints

ROOT = Path(__file__).parents[2]
PROFILE, RELATIVES, COAT, FACTS, ENCYCLOPEDIA = (
    f"catfacts_breed_{name}" for name in ("profile", "relatives", "coat_family", "facts", "encyclopedia")
)


@pytest.fixture(scope="module")
def cats():
    return load_family(ROOT / "suites" / "cats" / "family.py")


@pytest.fixture
def scenario(cats):
    def make(level, draw=0, profile="lean", split="feedback"):
        return Scenario(cats, level, split, draw, profile)

    return make


def call(box, tool, name, **more):
    return json.loads(box.call(tool, {"breed_name": name, **more}))


def delivered(scenario, box=None, **changed):
    """The evaluation of the truth in which fields of a breed are changed, after the calls of the route."""
    if box is None:
        box = scenario.open()
        look_up(scenario, box)
    artifact = scenario.artifact()
    for entry in artifact["breeds"]:
        entry |= changed.get(entry["breed_name"].replace(" ", "_"), {})
    box.call("write_file", {"path": "cat_encyclopedia.json", "content": json.dumps(artifact)})
    box.call("claim_done", {})
    return grade(scenario, AgentRun("", (), box, NO_USAGE, 1, "finished"))


def victim(scenario, kind):
    return next(fault.entity for fault in scenario.plan if fault.kind == kind)


@pytest.mark.parametrize("level", ["e1", "e2", "e3", "m1", "m2", "h1"])
def test_every_task_has_a_breed_whose_name_finds_an_older_one(scenario, level):
    task = scenario(level)
    name = victim(task, "B")
    tool = next(tool for tool in task.rung.tools if tool in (RELATIVES, FACTS))
    assert call(task.open(), tool, name)["target_breed"] == f"Royal {name}"
    assert call(task.open(), tool, name, exact=True)["target_breed"] == name


def test_values_of_the_older_breed_count_as_fabricated(scenario):
    task = scenario("e1")
    box = task.open()
    for tool in task.rung.tools:
        for name in task.titles.values():
            call(box, tool, name)
    evaluation = delivered(task, box)
    assert evaluation.score <= 0.69
    assert [complaint.remedy for complaint in read_complaints(evaluation.feedback)] == ["ambiguity"]


def test_asking_with_and_without_exact_is_the_same_question(scenario):
    task = scenario("e1")
    box = task.open()
    look_up(task, box)
    plain = next(name for name in task.titles.values() if name != victim(task, "B"))
    call(box, PROFILE, plain.upper())
    assert "redundant: 1 call" in delivered(task, box).feedback


def test_relatives_of_a_large_country_come_in_pages(scenario):
    task = scenario("m1")
    name = victim(task, "P")
    first = call(task.open(), RELATIVES, name, exact=True)
    rest = call(task.open(), RELATIVES, name, exact=True, offset=first["returned_count"])
    assert first["returned_count"] == 12 < first["total_relatives"]
    names = sorted(row["name"] for row in first["relatives"] + rest["relatives"])
    assert task.truth[name]["country_relatives"] == {"count": first["total_relatives"], "sample": names[:3]}
    assert name not in names
    cut = {"count": 12, "sample": sorted(row["name"] for row in first["relatives"])[:3]}
    evaluation = delivered(task, **{name.replace(" ", "_"): {"country_relatives": cut}})
    assert f"counts a truncated list (12 of {first['total_relatives']} returned)" in evaluation.feedback


@pytest.mark.parametrize("profile", PROFILES)
def test_the_figures_are_the_same_however_many_facts_are_shown(scenario, profile):
    task = scenario("h1", profile=profile)
    for name, truth in task.truth.items():
        answer = call(task.open(), FACTS, name, exact=True) if name != victim(task, "T") else None
        if answer is None:
            continue
        rows = answer["facts_collection"]["all_facts"]
        assert answer["facts_statistics"]["total_facts"] == truth["facts"]["count"] >= len(rows)
        tagged = sum(row["breed"] == name for row in rows)
        assert tagged == truth["facts"]["tagged"] if profile == "original" else tagged <= truth["facts"]["tagged"]


def test_answers_are_as_large_as_the_profile_says(scenario):
    def size(profile):
        task = scenario("h1", profile=profile)
        return sum(len(task.open().call(tool, spec.about(task.records[0]))) for tool, spec in task.spec.tools.items())

    lean, standard, original = map(size, PROFILES)
    assert lean < 4_000
    assert 40_000 < standard < 70_000
    assert 200_000 < original < 300_000


def test_an_open_word_count_is_the_sum_of_the_sections(scenario):
    task = scenario("m2")
    name = victim(task, "M")
    answer = call(task.open(), ENCYCLOPEDIA, name, exact=True)
    assert answer["metadata"]["word_count"] is None
    words = sum(section["words"] for section in answer["encyclopedia_entry"]["sections"])
    assert task.truth[name]["encyclopedia_entry"]["word_count"] == words


def test_outage_unknown_name_and_missing_article_have_codes_of_their_own(scenario):
    task = scenario("h1")
    box = task.open()
    assert call(box, ENCYCLOPEDIA, victim(task, "G"), exact=True)["code"] == "NO_DATA"
    assert call(box, FACTS, victim(task, "T"), exact=True)["code"] == "TIMEOUT"
    assert call(box, PROFILE, "no such breed")["code"] == "NOT_FOUND"
    assert task.truth[victim(task, "G")]["encyclopedia_entry"] == {"unavailable": True}
