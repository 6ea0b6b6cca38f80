"""What the engine offers beyond what these families use: number ids, broken routes, hidden objects, argument types."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from pytest_skillevo.core.records import NO_USAGE, AgentRun
from pytest_skillevo.families import compare
from pytest_skillevo.families.faults import FaultRule
from pytest_skillevo.families.oracle import oracle, run_script
from pytest_skillevo.families.projections import fact
from pytest_skillevo.families.registry import load_family
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.spec import Level
from pytest_skillevo.families.tasks import grade
from pytest_skillevo.families.tools import Answer, ToolSpec, argument_problem, hide

TEMPLATE = Path(compare.__file__).parent / "template" / "family.py"


@pytest.fixture(scope="module")
def family():
    return load_family(TEMPLATE)


def with_contract(family, **changes):
    return dataclasses.replace(family, contract=dataclasses.replace(family.contract, **changes))


def with_faults(family, *rules):
    level = family.levels["e1"]
    return dataclasses.replace(family, levels={"e1": Level(level.entities, level.tools, rules)})


def graded(scenario, artifact, calls=()):
    box = scenario.open()
    for call in calls:
        box.call(*call)
    box.call("write_file", {"path": scenario.spec.contract.file, "content": json.dumps(artifact)})
    box.call("claim_done", {})
    return grade(scenario, AgentRun("", (), box, NO_USAGE, 1, "finished"))


def test_ids_may_be_numbers_and_their_type_counts(family):
    numbered = with_contract(family, id_key="number", ident=lambda record, _: int(record["id"]))
    scenario = Scenario(numbered, "e1", "feedback", 0, "lean")
    perfect = grade(scenario, run_script(scenario, oracle))
    assert (perfect.score, perfect.objectives["official"]) == (1.0, 1.0)
    artifact = scenario.artifact()
    assert all(isinstance(entry["number"], int) for entry in artifact["things"])
    as_text = {**artifact, "things": [{**e, "number": str(e["number"])} for e in artifact["things"]]}
    evaluation = graded(scenario, as_text, numbered.route(scenario))
    assert evaluation.score == pytest.approx(0.95)
    assert "under an id that is no number: 3" in evaluation.feedback
    foreign = {**artifact, "things": [{**artifact["things"][0], "number": True}, *artifact["things"][1:]]}
    assert "missing: " in graded(scenario, foreign, numbered.route(scenario)).feedback


def test_a_broken_route_never_answers_and_feedback_says_that_others_do(family):
    broken = with_faults(family, FaultRule("R", ("thing_details",)))
    scenario = Scenario(broken, "e1", "feedback", 0, "lean")
    (fault,) = scenario.plan
    box = scenario.open()
    codes = [json.loads(box.call("thing_details", {"thing_id": fault.record}))["code"] for _ in range(4)]
    assert codes == ["TIMEOUT"] * 4
    evaluation = graded(scenario, scenario.artifact(), [("thing_details", {"thing_id": fault.record})])
    assert f"faults: thing_details keeps timing out for {fault.entity}; other lookups hold" in evaluation.feedback


def test_any_way_to_know_a_value_supports_it(family):
    fields = [
        dataclasses.replace(one, needs=fact("never told"), alternatives=(fact("weight"), fact("maker")))
        for one in family.contract.fields
    ]
    scenario = Scenario(with_contract(family, fields=tuple(fields)), "e1", "feedback", 0, "lean")
    assert grade(scenario, run_script(scenario, oracle)).score == 1.0
    assert "fabricated" in graded(scenario, scenario.artifact()).feedback


def test_a_field_inside_an_answer_about_one_record_can_be_hidden():
    answer = Answer({"success": True, "thing": {"a": 1, "b": 2}}, frozenset({("1", "a"), ("1", "b")}), about="1")
    hidden, changed = hide(answer, "1", "thing.a")
    assert (hidden.payload["thing"], hidden.reveals, changed) == ({"a": None, "b": 2}, {("1", "b")}, True)
    assert hide(answer, "2", "thing.a") == (answer, False)
    assert answer.payload["thing"]["a"] == 1


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "number"}, (1, 2.5, -3), ("1", True, float("nan"), float("inf"), 10**400, None)),
        ({"type": ["integer", "string"]}, (1, "a"), (1.5, True, None, [])),
        ({"type": "array"}, ([], ["a"]), ("a", [1], [["a"]], {})),
        ({"type": "boolean"}, (True, False), (1, "true", None)),
    ],
)
def test_arguments_are_checked_by_their_declared_types(schema, good, bad):
    for value in good:
        assert argument_problem({"x": schema}, {"x": value}) is None
    for value in bad:
        assert "must be of type" in argument_problem({"x": schema}, {"x": value})


def test_calls_that_differ_in_spelling_or_in_a_label_are_equal():
    parameters = {
        "place": {"type": "number"},
        "names": {"type": "array"},
        "note": {"type": "string", "default": ""},
    }
    tool = ToolSpec(
        name="t", description="", parameters=parameters, answer=lambda ask: Answer({}), about=lambda record: {},
        labels=frozenset({"note"}),
    )  # fmt: skip
    first = tool.canonical({"place": 3, "names": ["A ", "b"], "note": "x"})
    assert first == tool.canonical({"place": 3.0, "names": ["a", "B"]})
    assert isinstance(first["place"], float)


def test_comparators_of_numbers_booleans_and_nulls():
    near = compare.near(0.05)
    assert [near(value, 20.1) for value in (20.1, 20.05, 20, "20.1", True, None, 10**400)] == [1, 1, 0, 0, 0, 0, 0]
    assert [compare.yes_no(value, True) for value in (True, 1, "true", None)] == [1, 0, 0, 0]
    maybe = compare.nullable(compare.whole)
    assert (maybe(None, None), maybe(0, None), maybe(None, 3), maybe(3, 3)) == (1, 0, 0, 1)


def test_a_family_without_official_rules_gets_some_from_its_contract(family):
    scenario = Scenario(family, "h1", "holdout", 0, "lean")
    assert grade(scenario, run_script(scenario, oracle)).objectives["official"] == 1.0
    artifact = scenario.artifact()
    half = {**artifact, "things": [{"name": e["name"]} for e in artifact["things"]]}
    assert 0.5 < graded(scenario, half).objectives["official"] < 0.9
