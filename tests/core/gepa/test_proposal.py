"""From a proposal to a child, or to the reason why there is none."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.gates.redaction import redact
from pytest_skillevo.core.gepa import Proposal, Rejection, SearchSettings, Watch
from pytest_skillevo.core.gepa.proposal import Guard
from pytest_skillevo.core.skill import Skill

from .driver import seed_skill

KEY = "sk-" + "AbCd1234" * 4


def guard(*, clean=redact, leak=lambda text: None, watch=(), **settings) -> Guard:
    return Guard(SearchSettings(**settings), clean, leak, Watch(watch))


def child(text: str, component: str = "steps", *, parent: Skill | None = None, rules: Guard | None = None) -> Skill:
    return (rules or guard()).child(parent or seed_skill(), Proposal(component, text, ""))


def reason(text: str, component: str = "steps", **more) -> str:
    with pytest.raises(Rejection) as rejected:
        child(text, component, **more)
    return rejected.value.reason


def test_only_the_selected_component_changes():
    parent = seed_skill(pitfalls=["Check totals."])
    made = child("1. Read the spec.\n2. Write.", parent=parent)
    assert made.components == {**parent.components, "steps": "1. Read the spec.\n2. Write."}


def test_blank_list_items_are_dropped():
    made = child("1.   Read the spec. \n2. \n3.    \n4. Check the totals.")
    assert made.spec is not None
    assert made.spec.steps == ("Read the spec.", "Check the totals.")


def test_an_unchanged_text_gives_the_parent_itself():
    parent = seed_skill()
    assert child(f"\n{parent.components['steps']}\n\n", parent=parent) is parent


def test_steps_without_an_item_are_rejected():
    assert "no list" in reason("Just read everything.")


def test_blank_items_alone_are_rejected_as_empty():
    assert "empty" in reason("-\n-")


def test_a_heading_of_its_own_is_rejected_without_naming_the_folder():
    parent = Skill.from_bytes("pdf-tables", seed_skill().document, where="/somewhere/pdf-tables/SKILL.md")
    told = reason("## Pitfalls\n- x", parent=parent)
    assert told.startswith("SKILL.md: ")
    assert "heading" in told


def test_an_open_code_fence_is_rejected():
    assert "never closed" in reason("1. Run\n```\nx")


def test_dropping_a_pitfall_is_rejected_unless_removal_is_allowed():
    parent = seed_skill(pitfalls=["Never skip page 1.", "Check totals."])
    assert "drops 1 existing" in reason("- Check totals.\n- New.", "pitfalls", parent=parent)
    made = child("- Check totals.", "pitfalls", parent=parent, rules=guard(allow_pitfall_removal=True))
    assert made.components["pitfalls"] == "- Check totals."
    more = child("- Never skip page 1.\n- Check totals.\n- New.", "pitfalls", parent=parent)
    assert more.spec is not None
    assert len(more.spec.pitfalls) == 3


def test_growth_in_one_step_is_bounded():
    assert "grows from" in reason("1. " + "word " * 1000)
    assert child("1. " + "word " * 390).components["steps"].startswith("1. word")
    assert "at most 54 are" in reason("1. " + "x" * 99, rules=guard(growth_floor=0, max_growth=1.51))


def test_the_whole_skill_is_bounded():
    assert "more than 200" in reason("1. " + "word " * 50, rules=guard(max_skill_chars=200))


def test_a_copied_passage_is_rejected():
    text = "Extract all of the seven tables on the first two pages of the report and sum their last column."
    assert "word for word" in reason(f"1. {text}", rules=guard(watch=[text]))


def test_the_leak_check_of_the_caller_decides_too():
    assert reason("1. Sealed.", rules=guard(leak=lambda text: "it is sealed" if "Sealed" in text else None)) == (
        "it is sealed"
    )


def test_a_new_secret_is_rejected():
    assert "credential" in reason(f"1. Call with {KEY}")
    assert "credential" in reason("1. Set password: " + "hunter" + "22")


def test_a_secret_that_the_parent_holds_is_put_back_where_the_prompt_hid_it():
    parent = seed_skill([f"Call with token={KEY}", "Read."])
    shown = redact(parent.components["steps"])
    made = child(f"{shown}\n3. Write.", parent=parent)
    assert made.components["steps"] == f"1. Call with token={KEY}\n2. Read.\n3. Write."


def test_a_mark_of_redaction_or_cutting_is_rejected():
    assert "mark" in reason("1. Call with [REDACTED]")
    assert "mark" in reason("1. Read.\n...[truncated]...")


def test_a_first_version_grows_out_of_nothing():
    parent = Skill.absent("new-skill")
    made = child("1. Look.\n2. Leap.", parent=parent)
    assert made.exists
    made = child("- Do not fall.", "pitfalls", parent=made)
    made = child("When you must leap.", "when_to_use", parent=made)
    made = child("How to leap.", "description", parent=made)
    assert made.spec is not None
    assert (made.spec.description, made.spec.steps) == ("How to leap.", ("Look.", "Leap."))


def test_a_section_of_a_free_form_skill_changes_and_the_frontmatter_stays():
    text = b"---\nname: notes\nlicense: MIT  # kept\n---\n# Notes\n\n## Alpha\n\na\n\n## Beta\n\nb\n"
    parent = Skill.from_bytes("notes", text)
    made = child("plain words", "section:alpha", parent=parent)
    assert made.document == text.replace(b"\na\n", b"\nplain words\n")
