"""What the agent sees: everything that is tested, nothing of the hidden truth, nothing of this machine."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path

import pytest

from pytest_skillevo.core.records import SPLITS
from pytest_skillevo.families.scenario import Scenario
from pytest_skillevo.families.tasks import make_task
from pytest_skillevo.families.tools import (
    BAD_ARGUMENTS,
    NEEDS_PREREQUISITE,
    NO_DATA,
    NOT_FOUND,
    RATE_LIMITED,
    TIMEOUT,
    UNAVAILABLE,
)

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def many(recipe):
    return [
        Scenario(recipe, level, split, draw, "lean") for split in SPLITS for draw in range(3) for level in recipe.levels
    ]


def visible(scenario):
    """All text that is there before the first call."""
    tools = [f"{tool.name} {tool.description} {json.dumps(tool.parameters)}" for tool in scenario.open()]
    return "\n".join([scenario.prompt, *tools, *scenario.files.values()])


def test_the_hidden_keys_stand_in_the_reference_and_not_in_the_prompt(many):
    for one in many:
        assert "category_dishes" not in one.prompt
        assert "cuisine_dishes" not in one.prompt


def test_the_reference_documents_every_code_alias_category_and_title_word(recipe):
    one = Scenario(recipe, "e1", "feedback", 0, "lean")
    reference = one.files["reference/recipe.md"]
    for code in (TIMEOUT, RATE_LIMITED, NO_DATA, NOT_FOUND, BAD_ARGUMENTS, NEEDS_PREREQUISITE, UNAVAILABLE):
        assert f"| {code} |" in reference
    areas = {record["area"] for record in one.world.records} - {"Unknown"}
    table = dict(re.findall(r"^\| (\w+) \| (\w+) \|$", reference, re.MULTILINE))
    assert set(table.values()) == areas
    for record in one.records:
        assert table[one.truth[one.titles[record["id"]]]["cuisine"]] == record["area"]
    for category in {record["category"] for record in one.world.records}:
        assert f"| {category} |" in reference
    for tool in recipe.tools:
        assert f"### {tool}" in reference


def test_aliases_use_only_the_documented_words(many):
    for one in many:
        alias = next(fault.entity for fault in one.plan if fault.kind == "A")
        assert alias.split()[0] in "Classic, Homestyle, Rustic or Festive"


def test_what_is_visible_does_not_depend_on_the_hidden_facts(many):
    """Every hidden fact is changed behind the same cast; prompt, workspace and tools must stay the same bytes."""
    for one in many:
        other = Scenario(one.spec, one.level, one.split, one.draw, one.profile)
        records = copy.deepcopy(one.world.records)
        for place, record in enumerate(records):
            record["category"] = ("Broths", "Sweets", "Salads")[place % 3]
            record["ingredients"] = [record["key"], "salt"]
            record["prep"] = record["cook"] = 1
            record["blanks"] = 9
        kind = type(one.world)
        other.__dict__["world"] = kind(one.world.version, one.split, one.draw, records, {})
        chosen = tuple(other.world.by_id[record["id"]] for record in one.records)
        other.__dict__["_cast"] = (chosen, tuple((rule, other.world.by_id[r["id"]]) for rule, r in one._cast[1]))
        assert visible(other) == visible(one)


def test_titles_and_names_are_watched_for_leaks_into_skills(many):
    for one in many:
        watched = make_task(one).watched
        assert set(one.titles.values()) <= set(watched)
        assert {record["name"] for record in one.records} <= set(watched)
        long = [value for values in one.truth.values() for value in values.values() if isinstance(value, dict)]
        assert all(", ".join(value["top3"]) in watched for value in long if "top3" in value)
