"""What a gate lets pass on top of the figures, and what counts as taken away."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.merge import CaseMark, Circumstances, judged, lost_cases, passes
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.core.verdict import Decision, Verdict
from pytest_skillevo.core.versions import changes

ACCEPT = Decision(Verdict.ACCEPT, "not-worse", "Not worse.")
REJECT = Decision(Verdict.REJECT, "quality-worse", "Worse.")
OPEN = Decision(Verdict.INCONCLUSIVE, "no-worse-not-shown", "Too few.")


def mark(id, *, skill="demo", split="holdout", critical=False, content=None):
    return CaseMark(id, skill, split, critical, content or f"content of {id}")


@pytest.mark.parametrize(
    ("facts", "rule"),
    [
        (Circumstances(lost=("case a",)), "cases-removed"),
        (Circumstances(refused="no name"), "gate-refused"),
        (Circumstances(leak="it repeats a case"), "holdout-leak"),
        (Circumstances(narrowed="-k"), "narrowed"),
        (Circumstances(left_out=("a",)), "skipped-cases"),
        (Circumstances(missing=("a",)), "missing-runs"),
        (Circumstances(simulated=True), "simulated-model"),
    ],
)
def test_no_good_figure_outweighs_a_bad_comparison(facts, rule):
    decision = judged(ACCEPT, facts)
    assert decision.rule == rule
    assert not passes(decision, "a person insists")


def test_what_is_worse_stays_worse_when_runs_are_missing_or_the_model_is_simulated():
    assert judged(REJECT, Circumstances(missing=("a",), simulated=True)) is REJECT


def test_a_person_overrides_inconclusive_and_nothing_else():
    assert passes(ACCEPT, None)
    assert not passes(OPEN, None)
    assert not passes(OPEN, "")
    assert passes(OPEN, "I read it")
    assert not passes(REJECT, "I read it")
    assert not passes(Decision(Verdict.BLOCKED, "narrowed", "-k"), "I read it")


def test_a_removed_case_and_a_removed_mark_are_lost():
    then = [mark("a"), mark("b", critical=True), mark("c")]
    now = [mark("a"), mark("b")]
    assert lost_cases(then, now, {}) == {"demo": ["the critical mark of b", "case c"]}


def test_a_moved_case_an_edited_case_and_another_split_are_not_lost():
    then = [mark("a"), mark("b"), mark("c")]
    now = [mark("moved", content="content of a"), mark("b", content="edited"), mark("c", split="feedback")]
    assert lost_cases(then, now, {}) == {}


def test_cases_of_a_renamed_skill_are_looked_for_under_its_new_name():
    then = [mark("a", skill="old"), mark("b", skill="old")]
    now = [mark("a", skill="new")]
    assert lost_cases(then, now, {"old": "new"}) == {"old": ["case b"]}
    assert lost_cases(then, now, {}) == {"old": ["case a", "case b"]}


def skill(name, step):
    text = (
        f"---\nname: {name}\ndescription: Does it.\n---\n# It\n\n## Steps\n\n1. Read all of it with care.\n2. {step}\n"
    )
    return Skill.from_bytes(name, text.encode())


def test_edited_added_deleted_and_renamed_skills_are_told_apart():
    other = "Something else entirely, with many words of its own that no other skill has, about quite another matter. "
    before = {"same": skill("same", "x"), "edit": skill("edit", "x"), "gone": skill("gone", other * 9)}
    before["old"] = skill("old", "Keep every one of these words, please.")
    after = {"same": skill("same", "x"), "edit": skill("edit", "y")}
    after["new"] = skill("new", "Keep every one of these words, thanks.")
    found = {(one.name, one.kind, one.was) for one in changes(before, after)}
    assert found == {("edit", "edited", "edit"), ("gone", "deleted", "gone"), ("new", "renamed", "old")}
    added = changes({}, {"fresh": skill("fresh", "x")})
    assert [(one.kind, one.before.exists, one.after.exists) for one in added] == [("added", False, True)]
