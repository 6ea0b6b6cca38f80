"""The cycle of components, and lists."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.gepa.components import component_cycle, dropped_items, round_robin, tidy_list
from pytest_skillevo.core.skill import Skill

from .driver import seed_skill


def test_structured_and_absent_skills_follow_the_order_of_the_reference():
    order = ("steps", "pitfalls", "when_to_use", "description")
    assert component_cycle(seed_skill()) == order
    assert component_cycle(Skill.absent("new-skill")) == order
    assert component_cycle(Skill.absent("new-skill").with_component("steps", "1. Look.")) == order


def test_a_free_form_skill_takes_its_body_in_document_order_and_then_the_description():
    text = b"---\nname: notes\ndescription: d\nlicense: MIT\n---\n# Notes\n\nHello.\n\n## Alpha\n\na\n\n## Beta\n\nb\n"
    skill = Skill.from_bytes("notes", text)
    assert component_cycle(skill) == ("preamble", "section:alpha", "section:beta", "description")
    assert [round_robin(skill, i) for i in range(5)][-2:] == ["description", "preamble"]


def test_a_skill_without_a_body_can_grow_one():
    assert component_cycle(Skill.from_bytes("bare", b"---\nname: bare\ndescription: d\n---\n")) == (
        "preamble",
        "description",
    )


@pytest.mark.parametrize(
    ("raw", "tidy"),
    [
        ("1.   Read. \n2. \n3.    \n4. Check.", "1. Read.\n2. Check."),
        ("- a\n-\n-   b  ", "- a\n- b"),
        ("1. a\n2.\n   the text of two\n3. c", "1. a\n2.\n   the text of two\n3. c"),
        ("1. a\n   ```\n   -\n   ```\n2. b", "1. a\n   ```\n   -\n   ```\n2. b"),
        ("3) a\n4) b", "3) a\n4) b"),
        ("plain", "plain"),
    ],
)
def test_blank_items_are_dropped_and_everything_else_is_kept(raw, tidy):
    assert tidy_list(raw) == tidy


def test_a_pitfall_is_kept_when_a_new_item_holds_its_words():
    before = "- Never skip page 1.\n- Check  totals"
    assert dropped_items(before, "- never skip PAGE 1, not even once\n- check totals.\n- More") == ()
    assert dropped_items(before, "- Check totals.") == ("Never skip page 1.",)
    assert dropped_items("", "- Check totals.") == ()
