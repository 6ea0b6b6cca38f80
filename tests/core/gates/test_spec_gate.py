"""The Spec gate: whole skills pass, and what is missing is named, all of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.gates.records import Candidate, Severity
from pytest_skillevo.core.gates.spec import SpecGate
from pytest_skillevo.core.revisions import Action
from pytest_skillevo.core.skill import Skill

from .gate_samples import FREE_FORM, SPEC, created, written

GATE = SpecGate()


def warnings(candidate: Candidate) -> list[str]:
    return [one.code for one in GATE.judge(candidate).findings if one.severity is Severity.WARNING]


def test_a_whole_skill_of_the_reviewer_passes_without_a_finding():
    verdict = GATE.judge(created())
    assert verdict.passed
    assert verdict.findings == ()


@pytest.mark.parametrize(
    ("changes", "codes"),
    [
        ({"when_to_use": ""}, ("missing_when_to_use",)),
        ({"steps": ()}, ("too_few_steps",)),
        ({"steps": ("One.",)}, ("too_few_steps",)),
        (
            {"description": "", "when_to_use": "", "steps": ()},
            ("missing_description", "missing_when_to_use", "too_few_steps"),
        ),
    ],
)
def test_a_skill_of_the_reviewer_needs_every_field(changes, codes):
    assert GATE.judge(created(**changes)).codes == codes


def test_what_is_missing_is_told_with_its_place_and_a_number():
    (finding,) = GATE.judge(created(steps=("One.",))).findings
    assert finding.where == "steps"
    assert finding.message == "the skill has 1 steps, at least 2 are needed."


def test_the_fields_count_as_they_are_read_back_from_the_file_too():
    skill = Skill.create(replace(SPEC, when_to_use=""))
    again = Skill.from_bytes("ledger-export", skill.document)
    assert again.spec is None
    codes = GATE.judge(Candidate(Action.CREATE, again.name, again, "reviewer")).codes
    assert "missing_when_to_use" in codes


def test_a_free_form_skill_needs_name_description_and_a_body():
    assert GATE.judge(written(FREE_FORM)).passed
    empty = GATE.judge(written("---\nname: free\n---\n"))
    assert set(empty.codes) == {"missing_description", "missing_body"}


def test_few_steps_in_free_form_are_only_warned_about():
    candidate = written(FREE_FORM)
    assert GATE.judge(candidate).passed
    assert "few_steps" in warnings(candidate)
    listed = written(FREE_FORM + "\n1. Read.\n2. Write.\n")
    assert "few_steps" not in warnings(listed)


def test_a_structured_skill_by_hand_needs_its_steps_as_well():
    text = "---\nname: free\ndescription: d\n---\n# T\n\n## When to use\n\nNow.\n\n## Steps\n\n1. One.\n"
    assert GATE.judge(written(text)).codes == ("too_few_steps",)
    assert SpecGate(min_steps=1).judge(written(text)).passed


def test_steps_in_prose_count_by_paragraph():
    head = "---\nname: free\ndescription: d\n---\n# T\n\n## When to use\n\nNow.\n\n## Steps\n\n"
    assert GATE.judge(written(head + "Read it first.\n\nThen write it.\n")).passed
    assert not GATE.judge(written(head + "Read it first, then write it.\n")).passed


def test_losing_the_structure_is_warned_about():
    parent = Skill.create(SPEC)
    candidate = written(FREE_FORM, parent=parent)
    assert GATE.judge(candidate).passed
    assert "structure_lost" in warnings(candidate)


def test_what_was_read_leniently_is_passed_on_as_a_warning():
    candidate = written("---\nname: free\ndescription: a: b\n---\n\n1. Read.\n2. Write.\n")
    assert warnings(candidate) == ["format"]
    assert "unquoted" in GATE.judge(candidate).findings[0].message


def test_a_deletion_has_nothing_to_be_whole():
    assert GATE.judge(Candidate(Action.DELETE, "", None, "reviewer")).passed


def test_no_candidate_and_no_skill_are_failures_not_exceptions():
    assert GATE.judge(None).codes == ("nil_candidate",)
    assert GATE.judge(Candidate(Action.CREATE, "x", None, "reviewer")).codes == ("missing_spec",)
    assert GATE.judge(Candidate(Action.CREATE, "x", Skill.absent("x"), "submission")).codes == ("missing_spec",)


@pytest.mark.parametrize(
    ("name", "existing", "codes"),
    [
        ("Ledger Export", "ledger-export", ("duplicate_name",)),
        ("ledger_export!", "Ledger: Export", ("duplicate_name",)),
        ("ＬＥＤＧＥＲ export", "ledger export", ("duplicate_name",)),
        ("月次決算", "月次決算", ("duplicate_name",)),
        ("月次決算", "在庫確認", ()),
        ("C++ Build", "C Build", ()),
        ("F# Build", "f-build", ()),
        ("नमस्ते", "नमसत", ()),
        ("Ferry Timetable - 4 Cities", "Ferry Timetable - Multi-City", ("quantified_sibling",)),
        ("Menu Planner 6 dishes", "Menu Planner Multi", ("quantified_sibling",)),
        ("Ferry Timetable - 4 Cities", "Ferry Timetable", ()),
        ("Ferry Timetable - 4 Cities", "Ferry Timetable Multiplex", ()),
        ("Area 51 cities", "Multi", ()),
    ],
)
def test_names_are_told_apart_as_people_do(name, existing, codes):
    candidate = replace(created(), name=name, existing=("other", existing))
    assert GATE.judge(candidate).codes == codes


def test_an_update_may_keep_its_name():
    skill = Skill.create(SPEC)
    assert GATE.judge(replace(Candidate.update(skill, skill, "reviewer"), existing=(skill.name,))).passed


def test_the_name_is_measured_in_bytes():
    assert GATE.judge(replace(created(), name="n" * 120)).passed
    assert GATE.judge(replace(created(), name="é" * 61)).codes == ("name_too_long",)
    assert SpecGate(max_name=10).judge(replace(created(), name="Quarterly Ledger")).codes == ("name_too_long",)


def test_settings_stand_in_the_version_and_zero_means_the_default():
    assert SpecGate(0, -1).version == GATE.version
    assert SpecGate(3).version != GATE.version


@given(st.text(max_size=60), st.lists(st.text(max_size=30), max_size=4))
def test_any_name_is_judged(name, existing):
    verdict = GATE.judge(replace(created(), name=name, existing=tuple(existing)))
    assert verdict.passed == (not verdict.codes)
    if name in existing and any(char.isalnum() for char in name):
        assert "duplicate_name" in verdict.codes
