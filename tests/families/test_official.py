"""The official score: every vector of the public evaluators, their tables, and the edges of the id modes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.families.expected import official_rules
from pytest_skillevo.families.official import (
    FAKE_PHRASES,
    LEVELS,
    UniformRules,
    entry_score,
    has_fake_phrases,
    public_families,
    public_task,
    score_official,
)
from pytest_skillevo.families.registry import load_family
from pytest_skillevo.families.scenario import Scenario

SUITES = Path(__file__).parents[2] / "suites"
DATA = Path(__file__).parents[1] / "data"
FACTS = json.loads((DATA / "skillcraft_rules.json").read_text(encoding="utf-8"))["families"]
VECTORS = json.loads((DATA / "skillcraft_vectors.json").read_text(encoding="utf-8"))["vectors"]
TASKS = [(family, level) for family in FACTS for level in LEVELS]


@pytest.mark.parametrize("vector", VECTORS, ids=[f"{one['family']}-{one['level']}-{one['case']}" for one in VECTORS])
def test_every_vector_of_the_public_evaluators_agrees(vector):
    task = public_task(vector["family"], vector["level"])
    expect = vector["expect"]

    score = score_official(task.rules, vector["artifact"], task.expected)

    if "crash" in expect:
        assert (score.status, score.percent, score.items) == ("evaluator_error", 0.0, ())
    else:
        assert score.percent == expect["percent"]
        assert score.status == expect["status"]
        assert score.passed70 is expect["passed"]
        assert [list(item) for item in score.items] == expect["items"]


def test_the_machine_knows_the_21_families_at_six_levels():
    assert set(public_families()) == set(FACTS)
    assert len({(task.family, task.level) for task in (public_task(*one) for one in TASKS)}) == 126


@pytest.mark.parametrize(("family", "level"), TASKS)
def test_the_tables_are_those_of_the_public_scorers(family, level):
    task, facts = public_task(family, level), FACTS[family]["levels"][level]
    assert (task.file, list(task.expected)) == (facts["output_file"], facts["expected"])
    scorer = FACTS[family].get("scorer")
    if scorer is None:
        return
    rules = task.rules
    assert isinstance(rules, UniformRules)
    assert [rules.list_key, *rules.list_aliases] == scorer["list_keys"]
    assert [rules.id_key, *rules.id_aliases] == scorer["id_keys"]
    assert (rules.id_mode, rules.threshold, rules.special) == (
        scorer["id_mode"],
        scorer["entry_threshold"],
        scorer["special"],
    )
    assert rules.id_weight == (scorer["id_weight"] or 0.0)
    dropped = facts["checks_off"]
    assert [[kind, list(keys), weight] for kind, keys, weight in rules.checks] == [
        check for check in scorer["checks"] if check[1][0] not in dropped
    ]
    parts = ("file", "json", "fake", "count", "ids", "data", "complete")
    assert list(rules.weights) == [scorer["weights"][part] for part in parts]
    assert sorted(rules.required) == sorted(facts["required"])


#: Our families and the public ones in whose shape they are.
SHAPES = {
    spec.name: spec.official if isinstance(spec.official, str) else {"weather": "openmeteo-weather"}[spec.name]
    for spec in map(load_family, sorted(SUITES.glob("*/family.py")))
}


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", SHAPES)
def test_our_families_are_scored_by_the_public_rules(name, level):
    spec, public = load_family(SUITES / name / "family.py"), SHAPES[name]
    facts, task = FACTS[public]["levels"][level], public_task(public, level)
    ours = official_rules(Scenario(spec, level, "feedback", 0, "lean"))
    assert dataclasses.replace(ours, known=task.rules.known) == task.rules
    assert sorted(spec.levels[level].tools) == sorted(facts["tools"])
    assert spec.levels[level].entities == len(facts["expected"])
    assert (spec.contract.file, spec.contract.list_key) == (facts["output_file"], facts["list_key"])


#: Arguments of ours beside the public ones (docs/decisions.md).
OWN = ("offset", "exact")


@pytest.mark.parametrize("name", SHAPES)
def test_the_tools_take_the_public_arguments_plus_paging_and_exact_names(name):
    for tool, spec in load_family(SUITES / name / "family.py").tools.items():
        public = FACTS[SHAPES[name]]["tools"][f"local-{tool}"]
        assert {key: schema["type"] for key, schema in spec.parameters.items() if key not in OWN} == {
            key: schema["type"] for key, schema in public["params"].items()
        }
        assert spec.schema["required"] == public["required"]


@pytest.mark.parametrize(("family", "level"), [("recipes", "e1"), ("cat-facts-collector", "e4")])
def test_an_unknown_family_or_level_is_a_key_error(family, level):
    with pytest.raises(KeyError):
        public_task(family, level)


def test_a_crash_of_the_original_is_told_apart_from_an_honest_zero(recipe):
    rules = official_rules(Scenario(recipe, "e1", "feedback", 0, "lean"))
    assert score_official(rules, None, ["a"]).status == "fail"
    assert score_official(rules, "null", ["a"]).status == "evaluator_error"
    assert score_official(rules, None, ["a"]).quality == score_official(rules, "null", ["a"]).quality == 0.0


@pytest.mark.parametrize("family", ["recipe-cookbook-builder", "tvmaze-series-analyzer", "countries-encyclopedia"])
def test_an_entry_that_is_no_object_is_a_crash_also_behind_those_that_are_scored(family):
    task = public_task(family, "e1")
    key = {"recipe": "recipes", "tvmaze": "shows", "countr": "regions"}[family[:6]]
    entries = [{} for _ in task.expected]
    assert score_official(task.rules, json.dumps({key: entries}), task.expected).status == "fail"
    assert score_official(task.rules, json.dumps({key: [*entries, "x"]}), task.expected).status == "evaluator_error"


def test_the_thresholds_of_the_code_and_of_the_paper_are_told_apart():
    task = public_task("recipe-cookbook-builder", "h1")
    dish = {"name": "Pad Thai", **dict.fromkeys(task.rules.required[1:], "x")}

    def score(names):
        return score_official(task.rules, json.dumps({"recipes": [dish | {"name": n} for n in names]}), task.expected)

    one, four = score(task.expected[:1]), score(task.expected[:4])
    assert (one.percent, one.passed70, one.passed90) == (76.0, True, False)
    assert (four.percent, four.passed70, four.passed90) == (94.0, True, True)


@pytest.mark.parametrize(
    ("phrase", "times", "fake"),
    [
        ("connection timed out", 2, False),
        ("connection timed out", 3, True),
        ("API error", 5, False),
        ("API error", 6, True),
        ("Connection refused", 5, False),
        ("Connection refused", 6, True),
        ("未实现", 3, True),
    ],
)
def test_a_phrase_counts_as_fake_data_only_when_it_is_frequent(phrase, times, fake):
    assert has_fake_phrases({"notes": [phrase] * times}) is fake


def test_there_are_as_many_phrases_as_the_specification_says():
    assert len(set(FAKE_PHRASES)) == 24


RULES = UniformRules(
    "list", "id", "either", 0.25, (("truthy", ("a", "b"), 0.15), ("present", ("c",), 0.2)), ("id", "c")
)


@pytest.mark.parametrize(
    ("mode", "given_id", "expected", "matches"),
    [
        ("either", "", "pad thai", True),
        ("either", "THAI", "pad thai", True),
        ("either", "pad thai with rice", "pad thai", True),
        ("either", "pad  thai", "pad thai", False),
        ("exact_ci", "Lich", "lich", True),
        ("exact_ci", "lic", "lich", False),
        ("upper", "chn", "CHN", True),
        ("exact", "SEQ_01", "SEQ_01", True),
        ("exact", "seq_01", "SEQ_01", False),
        ("truthy_exact", 25, 25, True),
        ("truthy_exact", "25", 25, False),
        ("truthy_exact", 0, 0, False),
    ],
)
def test_ids_match_by_the_familys_mode(mode, given_id, expected, matches):
    rules = dataclasses.replace(RULES, id_mode=mode)
    assert entry_score(rules, {"id": given_id}, [expected]) == (0.25 if matches else 0.0)


def test_alternative_keys_and_presence_are_told_apart():
    assert entry_score(RULES, {"id": "zz", "b": "x"}, ["a"]) == 0.15
    assert entry_score(RULES, {"id": "zz", "b": "", "c": 0}, ["a"]) == 0.2


FULL: dict[tuple[str, str], list[str]] = {}
for _vector in VECTORS:
    if _vector["expect"].get("percent", 0) >= 70 and "escaped" not in _vector["case"]:
        FULL.setdefault((_vector["family"], _vector["level"]), []).append(_vector["artifact"])

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=True) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["list", "id", "a", "c"]), inner),
    max_leaves=12,
)


@given(JSON, st.sampled_from(["either", "exact_ci", "upper", "exact", "truthy_exact"]))
def test_no_artifact_escapes_the_machine(value, mode):
    score = score_official(dataclasses.replace(RULES, id_mode=mode), json.dumps(value), ["ab", "cd"])
    assert 0.0 <= score.percent <= 100.0
    assert score.status in ("pass", "partial", "fail", "evaluator_error")


@given(st.data())
def test_no_broken_artifact_escapes_a_public_evaluator(data):
    task = public_task(*data.draw(st.sampled_from(TASKS)))
    artifact = json.loads(data.draw(st.sampled_from(FULL[task.family, task.level])))
    entries = next((value for value in artifact.values() if isinstance(value, list)), None)
    if entries:
        entry = data.draw(st.sampled_from(entries))
        entry[data.draw(st.sampled_from(sorted(entry)))] = data.draw(JSON | st.sampled_from([1e400, 10**400]))
    score = score_official(task.rules, json.dumps(artifact), task.expected)
    assert 0.0 <= score.percent <= 100.0
    assert score.status in ("pass", "partial", "fail", "evaluator_error")
