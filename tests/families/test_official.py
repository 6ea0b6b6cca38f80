"""The official score: the recipe vectors of the public evaluator, its tables, and the edges of its id modes."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.families.official import (
    FAKE_PHRASES,
    UniformRules,
    entry_score,
    has_fake_phrases,
    score_official,
)

DATA = json.loads((Path(__file__).parents[1] / "data" / "recipe_official.json").read_text(encoding="utf-8"))
VECTORS = DATA["vectors"]


@pytest.mark.parametrize("vector", VECTORS, ids=[f"{one['level']}-{one['case']}" for one in VECTORS])
def test_every_vector_of_the_public_evaluator_agrees(recipe, vector):
    level, expect = vector["level"], vector["expect"]
    rules = recipe.official(recipe.levels[level])

    score = score_official(rules, vector["artifact"], DATA["rules"]["levels"][level]["expected"])

    if "crash" in expect:
        assert (score.status, score.percent, score.items) == ("evaluator_error", 0.0, ())
    else:
        assert score.percent == expect["percent"]
        assert score.status == expect["status"]
        assert score.passed70 is expect["passed"]
        assert [list(item) for item in score.items] == expect["items"]


def test_the_familys_tables_are_those_of_the_public_scorer(recipe):
    scorer = DATA["rules"]["scorer"]
    for name, level in DATA["rules"]["levels"].items():
        rules = recipe.official(recipe.levels[name])
        assert [rules.list_key] == scorer["list_keys"]
        assert [rules.id_key] == scorer["id_keys"]
        assert (rules.id_mode, rules.id_weight, rules.threshold) == (
            scorer["id_mode"],
            scorer["id_weight"],
            scorer["entry_threshold"],
        )
        assert [[kind, list(keys), weight] for kind, keys, weight in rules.checks] == scorer["checks"]
        parts = ("file", "json", "fake", "count", "ids", "data", "complete")
        assert list(rules.weights) == [scorer["weights"][part] for part in parts]
        assert sorted(rules.required) == sorted(level["required"])
        assert sorted(recipe.levels[name].tools) == sorted(level["tools"])
        assert recipe.levels[name].entities == len(level["expected"])
        assert (recipe.contract.file, recipe.contract.list_key) == (level["output_file"], level["list_key"])


def test_the_tools_take_the_public_arguments_plus_an_offset(recipe):
    for name, spec in recipe.tools.items():
        public = DATA["rules"]["tools"][name]
        assert {key: schema["type"] for key, schema in spec.parameters.items() if key != "offset"} == {
            key: schema["type"] for key, schema in public["params"].items()
        }
        assert spec.schema["required"] == public["required"]


def test_a_crash_of_the_original_is_told_apart_from_an_honest_zero(recipe):
    rules = recipe.official(recipe.levels["e1"])
    assert score_official(rules, None, ["a"]).status == "fail"
    assert score_official(rules, "null", ["a"]).status == "evaluator_error"
    assert score_official(rules, None, ["a"]).quality == score_official(rules, "null", ["a"]).quality == 0.0


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
