"""From a decision to changed skills: nothing is lost, nothing unread is changed, nothing protected is touched."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.review.applying import Shelf, changes
from pytest_skillevo.core.review.decision import ReviewDecision, SkillUpdate
from pytest_skillevo.core.review.protection import Protection, refusal
from pytest_skillevo.core.review.reconcile import Known, reconcile
from pytest_skillevo.core.revisions import Action
from pytest_skillevo.core.skill import Skill, SkillSpec

COOKING = Skill.create(SkillSpec("cooking", "Cook.", "When hungry.", ("Stir the pot.", "Taste it."), ("Salt twice.",)))
FREE = Skill.from_bytes("notes", b"# Notes\n\n## Any heading\n\ntext\n")
NEW = SkillSpec("Baking bread", "Bake.", "For bread.", ("Knead.",), ())


def shelf(**more):
    return Shelf([COOKING, FREE], {"cooking": COOKING.digest, "notes": FREE.digest}, **more)


def after(update, name="cooking", **more):
    made, refused = changes(ReviewDecision(updates=(update,)), shelf(**more))
    assert (len(made), len(refused)) == (1, 0), refused
    return made[0].after


def refused(decision, where=None):
    made, found = changes(decision, where or shelf())
    assert made == ()
    return found[0].reason


def test_additions_keep_all_that_is_there():
    spec = after(SkillUpdate("cooking", add_steps=("Serve.", "taste it."), add_pitfalls=("Do not burn it.",))).spec
    assert spec.steps == ("Stir the pot.", "Taste it.", "Serve.")
    assert spec.pitfalls == ("Salt twice.", "Do not burn it.")


def test_additions_below_a_list_of_another_form_leave_its_bytes_alone():
    head = b"---\nname: x\ndescription: d\n---\n\n## When to use\n\nw\n\n## Steps\n\n"
    skill = Skill.from_bytes("x", head + b"1) one\n2) two\n\n## Pitfalls\n\n* a\n")
    update = SkillUpdate("x", add_steps=("three",), add_pitfalls=("b",))
    (change,), _ = changes(ReviewDecision(updates=(update,)), Shelf([skill], {"x": skill.digest}))
    assert "1) one\n2) two\n" in change.after.text
    assert change.after.spec.steps[-1] == "three"
    assert change.after.spec.pitfalls == ("a", "b")


def test_a_whole_new_spec_keeps_the_pitfalls_of_before():
    spec = SkillSpec("cooking", "Cook better.", "Always.", ("Plan.", "Cook."), ("Salt once.", "salt  twice."))
    found = after(SkillUpdate("cooking", new_spec=spec)).spec
    assert (found.description, found.steps) == ("Cook better.", ("Plan.", "Cook."))
    assert found.pitfalls == ("Salt twice.", "Salt once.")


def test_a_component_is_replaced_and_nothing_else_moves():
    found = after(SkillUpdate("cooking", component="pitfalls", text="- Salt once."))
    assert found.components == {**COOKING.components, "pitfalls": "- Salt once."}


def test_supporting_files_come_beside_those_that_are_there():
    found = after(
        SkillUpdate("cooking", add_steps=("Read references/heat.md.",), add_files={"references/heat.md": "hot"})
    )
    assert found.files == {"references/heat.md": b"hot"}


def test_used_skills_come_first_and_one_bad_entry_keeps_no_other_back():
    decision = ReviewDecision(
        skills=(NEW,),
        updates=(
            SkillUpdate("notes", add_steps=("x",)),
            SkillUpdate("notes", component="section:any-heading", text="better"),
            SkillUpdate("cooking", add_pitfalls=("y",)),
        ),
        deletions=("notes",),
    )
    made, found = changes(decision, shelf(used=["cooking"]))
    assert [(one.action, one.name) for one in made] == [
        (Action.UPDATE, "cooking"),
        (Action.UPDATE, "notes"),
        (Action.CREATE, "Baking bread"),
        (Action.DELETE, "notes"),
    ]
    assert "free-form" in found[0].reason


def test_what_was_not_read_in_its_present_version_is_not_changed():
    update = ReviewDecision(updates=(SkillUpdate("cooking", add_steps=("x",)),))
    assert "was not shown" in refused(ReviewDecision(deletions=("unknown",)))
    assert "a summary only" in refused(update, Shelf([COOKING], {}))
    assert "has changed since" in refused(update, Shelf([COOKING], {"cooking": "0" * 64}))


def test_what_is_there_already_is_no_change_and_no_second_skill():
    assert "nothing changes" in refused(ReviewDecision(updates=(SkillUpdate("cooking", add_steps=("STIR the pot.",)),)))
    assert "exists already" in refused(ReviewDecision(skills=(SkillSpec("cooking", "a", "b", ("c",), ()),)))


@pytest.mark.parametrize("protection", [one for one in Protection if one is not Protection.MANAGED])
@pytest.mark.parametrize(
    "decision",
    [
        ReviewDecision(updates=(SkillUpdate("cooking", add_steps=("x",)),)),
        ReviewDecision(deletions=("cooking",)),
    ],
)
def test_the_reviewer_changes_no_protected_skill_and_is_told_why(protection, decision):
    where = shelf(protection={"cooking": protection})
    assert refusal(protection, "update", "reviewer") in refused(decision, where)


def test_every_class_allows_what_it_should():
    allowed = {
        (actor, verb, protection.value)
        for actor in ("reviewer", "agent", "person")
        for verb in ("update", "delete")
        for protection in Protection
        if not refusal(protection, verb, actor)
    }
    people = {("person", verb, "user") for verb in ("update", "delete")} | {("person", "update", "pinned")}
    assert allowed == people | {
        (a, v, "managed") for a in ("reviewer", "agent", "person") for v in ("update", "delete")
    }


def test_a_create_of_a_known_name_with_another_body_adds_pitfalls_only():
    decision = ReviewDecision(skills=(SkillSpec("Cooking", "d", "w", ("file taxes", "mail forms"), ("be late",)),))
    after_, events = reconcile(decision, [Known("cooking", "1. stir pot\n2. taste soup")])
    (update,) = after_.updates
    assert (update.new_spec, update.add_pitfalls) == (None, ("be late",))
    assert events[0].kind == "rewrite_to_update"


def test_counts_of_any_form_and_noun_find_the_generic_sibling():
    for name in (
        "Tide Brief - Three Ports",
        "Tide Brief - a dozen ports",
        "Tide Brief - 3-port",
        "Tide Brief - 2031 Ports",
    ):
        spec = SkillSpec(name, "d", "w", ("fetch",), ())
        decision, _ = reconcile(ReviewDecision(skills=(spec,)), [Known("Tide Brief - Multi-Port")])
        assert [update.name for update in decision.updates] == ["Tide Brief - Multi-Port"], name


def test_numbers_that_count_nothing_stay_in_a_name():
    for name in ("Python 3 migration", "UTF-8 encoding check", "Q1 2031 Report", "2-phase commit", "SHA-256 checks"):
        decision, events = reconcile(ReviewDecision(skills=(SkillSpec(name, "d", "w", ("x",), ()),)), [])
        assert ([spec.name for spec in decision.skills], events) == ([name], ())
