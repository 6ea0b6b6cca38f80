"""What is special in the creatures family: ids as numbers, chains behind another lookup, namesakes, moves in pages."""

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
DETAILS, SPECIES, EVOLUTION, MOVES, ABILITIES = (
    f"pokemon_get_{name}" for name in ("details", "species", "evolution", "moves", "abilities")
)


@pytest.fixture(scope="module")
def creatures():
    return load_family(ROOT / "suites" / "creatures" / "family.py")


@pytest.fixture
def scenario(creatures):
    def make(level, draw=0, profile="lean", split="feedback"):
        return Scenario(creatures, level, split, draw, profile)

    return make


def call(box, tool, **arguments):
    return json.loads(box.call(tool, arguments))


def delivered(scenario, change, box=None):
    """The evaluation of the truth with every entry changed, after the calls of the route."""
    if box is None:
        box = scenario.open()
        look_up(scenario, box)
    artifact = scenario.artifact()
    artifact["pokemon"] = [entry | change(entry) for entry in artifact["pokemon"]]
    box.call("write_file", {"path": "pokedex_entries.json", "content": json.dumps(artifact)})
    box.call("claim_done", {})
    return grade(scenario, AgentRun("", (), box, NO_USAGE, 1, "finished"))


def victim(scenario, kind):
    fault = next(fault for fault in scenario.plan if fault.kind == kind)
    return scenario.world.by_id[fault.record]


def test_an_id_written_as_text_costs_identity_and_the_official_score(scenario):
    task = scenario("e1")
    evaluation = delivered(task, lambda entry: {"id": str(entry["id"])})
    assert evaluation.score == pytest.approx(0.95)
    assert evaluation.objectives["official"] < 1.0
    assert "under an id that is no number: 3" in evaluation.feedback
    assert [complaint.remedy for complaint in read_complaints(evaluation.feedback)] == ["numeric ids"]


def test_a_chain_has_a_number_that_no_creature_has(scenario):
    task = scenario("e2")
    chains = {creature["chain"] for creature in task.world.records}
    assert len(chains) == len(task.world.records)
    assert chains.isdisjoint(int(creature["id"]) for creature in task.world.records)
    early = call(task.open(), EVOLUTION, chain_id=int(task.records[0]["id"]))
    assert early["code"] == "NEEDS_PREREQUISITE"


def test_the_name_of_a_namesake_finds_the_other_one(scenario):
    task = scenario("e3")
    creature = victim(task, "B")
    by_name = call(task.open(), SPECIES, pokemon_id=creature["name"])["species"]
    by_id = call(task.open(), SPECIES, pokemon_id=creature["id"])["species"]
    assert by_name["name"] == by_id["name"]
    assert by_name["id"] < by_id["id"] == int(creature["id"])


def test_asking_by_number_text_or_name_is_the_same_question(scenario):
    task = scenario("e2")
    box = task.open()
    look_up(task, box)
    creature = task.records[0]
    for spelling in (creature["id"], creature["name"], int(creature["id"])):
        call(box, SPECIES, pokemon_id=spelling)
    assert "redundant: 3 calls" in delivered(task, lambda _: {}, box).feedback


def test_types_and_stats_in_the_shape_of_the_service_are_wrong(scenario):
    task = scenario("e1")
    box = task.open()
    look_up(task, box)
    raw = {int(one["id"]): call(task.open(), DETAILS, pokemon_id=one["id"])["pokemon"] for one in task.records}
    evaluation = delivered(task, lambda entry: {key: raw[entry["id"]][key] for key in ("types", "stats")}, box)
    assert [complaint.remedy for complaint in read_complaints(evaluation.feedback)] == ["block", "block"]


@pytest.mark.parametrize("profile", PROFILES)
def test_moves_by_machine_are_counted_over_all_pages(scenario, profile):
    task = scenario("m1", profile=profile)
    creature = victim(task, "P")
    first = call(task.open(), MOVES, pokemon_id=creature["id"])
    rest = call(task.open(), MOVES, pokemon_id=creature["id"], offset=50)
    truth = task.truth[creature["name"]]["moves"]
    assert first["moves_summary"]["machine_count"] == len(first["machine_moves"]) == 50
    assert truth["machine"] == first["total_machine_moves"] == 50 + len(rest["machine_moves"])
    assert truth["total"] == first["moves_summary"]["total_unique_moves"]
    cut = {"moves": truth | {"machine": 50}}
    evaluation = delivered(task, lambda entry: cut if entry["id"] == int(creature["id"]) else {})
    assert f"counts a truncated list (50 of {truth['machine']} returned)" in evaluation.feedback


def test_a_chain_that_the_species_leaves_open_is_in_the_moves(scenario):
    task = scenario("m2")
    creature = victim(task, "M")
    assert call(task.open(), SPECIES, pokemon_id=creature["id"])["species"]["evolution_chain_id"] is None
    assert call(task.open(), MOVES, pokemon_id=creature["id"])["evolution_chain_id"] == creature["chain"]


def test_a_chain_that_was_never_recorded_is_a_gap(scenario):
    task = scenario("h1")
    creature = victim(task, "G")
    assert call(task.open(), EVOLUTION, chain_id=creature["chain"])["code"] == "NO_DATA"
    assert task.truth[creature["name"]]["evolution"] == {"unavailable": True}


def test_one_call_tells_of_all_abilities_of_a_creature(scenario):
    task = scenario("e3")
    for creature in task.records:
        answer = call(task.open(), ABILITIES, ability_names=[*creature["abilities"], "no-such-ability"])
        told = task.truth[task.titles[creature["id"]]]["abilities"]
        assert told["names"] == [row["name"] for row in answer["abilities"]]
        assert told["carriers"] == sum(row["pokemon_count"] for row in answer["abilities"])
