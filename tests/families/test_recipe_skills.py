"""The seed skill and its test-only variants: structured, and with the weaknesses that evolution should find."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_skillevo.core.skill import Skill

ROOT = Path(__file__).parents[2]
SEED = ROOT / "fixtures" / "skills" / "recipe-cookbook"
VARIANTS = ROOT / "tests" / "data" / "skills_recipe"


@pytest.mark.parametrize(
    "folder", [SEED, VARIANTS / "good" / "recipe-cookbook", VARIANTS / "corrupted" / "recipe-cookbook"], ids=str
)
def test_every_variant_is_structured_and_loads_without_a_warning(folder):
    skill = Skill.load(folder)
    assert (skill.name, skill.warnings) == ("recipe-cookbook", ())
    assert list(skill.components) == ["description", "when_to_use", "steps", "pitfalls"]
    assert skill.spec is not None


def test_the_seed_has_the_known_weaknesses():
    seed = Skill.load(SEED)
    assert "run the whole batch again" in seed.components["steps"]
    assert "returned_count as the number" in seed.components["steps"]
    assert "NO_DATA, guess" in seed.components["pitfalls"]
    assert "category_dishes" not in seed.text
    assert "cuisine_dishes" not in seed.text


def test_no_skill_names_an_entity_of_the_suite(recipe):
    from pytest_skillevo.families.registry import tasks

    for folder in (SEED, VARIANTS / "good" / "recipe-cookbook"):
        text = Skill.load(folder).text
        for task in tasks(recipe):
            assert not [watched for watched in task.watched if watched in text]
