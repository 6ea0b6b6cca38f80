from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_skillevo.core.revisions import Action
from pytest_skillevo.core.skill import Skill, SkillSpec
from pytest_skillevo.core.submission import Submission, SubmissionEvidence, SubmissionRefused, check, updated

SPEC = SkillSpec("Ledger Export", "Reconciles rows.", "Month-end close.", ("Pull the export.", "Match rows."), ())
EVIDENCE = SubmissionEvidence(0.5, 0.75, 0.25, 10, {"cost": 0.9})


def refused(submission: Submission) -> str:
    with pytest.raises(SubmissionRefused) as refusal:
        check(submission)
    assert str(refusal.value).endswith(".")
    return refusal.value.code


def test_a_whole_submission_is_an_update_by_default():
    assert check(Submission(SPEC, evidence=EVIDENCE)) is Action.UPDATE
    assert check(Submission(SPEC, " CREATE ")) is Action.CREATE
    assert check(Submission(Skill.from_bytes("x", b"---\nname: x\ndescription: d\n---\n\nText.\n"))) is Action.UPDATE


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "missing_spec"),
        (Skill.absent("x"), "missing_spec"),
        (replace(SPEC, name=" "), "spec_name_required"),
        (replace(SPEC, description="\t"), "spec_description_required"),
        (replace(SPEC, when_to_use=""), "spec_when_to_use_required"),
        (replace(SPEC, steps=()), "spec_steps_required"),
        (replace(SPEC, steps=("a", " ")), "spec_step_blank"),
        (Skill.from_bytes("x", b"Text.\n"), "spec_description_required"),
        (Skill.from_bytes("x", b"---\nname: x\ndescription: d\n---\n \n"), "body_required"),
    ],
)
def test_a_skill_that_is_not_whole_is_refused_by_name(content, code):
    assert refused(Submission(content)) == code


def test_the_first_check_that_fails_is_the_answer():
    assert refused(Submission(None, "delete", "rv-1")) == "missing_spec"
    assert refused(Submission(SPEC, "delete", "rv-1")) == "unsupported_action"
    assert refused(Submission(SPEC, "create", "rv-1", replace(EVIDENCE, delta=9))) == "create_with_parent"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"baseline_score": float("nan")}, "evidence_baseline"),
        ({"baseline_score": -0.1}, "evidence_baseline"),
        ({"candidate_score": 41}, "evidence_candidate"),
        ({"candidate_score": True}, "evidence_candidate"),
        ({"delta": float("inf")}, "evidence_delta"),
        ({"delta": 0.3}, "evidence_delta_mismatch"),
        ({"case_count": -1}, "evidence_case_count"),
        ({"case_count": 1.5}, "evidence_case_count"),
        ({"objectives": {"cost": float("nan")}}, "evidence_objective"),
    ],
)
def test_evidence_that_cannot_be_is_refused(changes, code):
    assert refused(Submission(SPEC, evidence=replace(EVIDENCE, **changes))) == code


SCORE = st.floats(0, 1)


@given(SCORE, SCORE)
def test_every_difference_of_two_scores_is_accepted(before, after):
    check(Submission(SPEC, evidence=SubmissionEvidence(before, after, after - before)))


def test_zero_is_a_score_and_is_written():
    assert SubmissionEvidence(0, 0, 0).to_json() == {
        "baseline_score": 0,
        "candidate_score": 0,
        "delta": 0,
        "case_count": 0,
        "objectives": {},
    }


def test_a_spec_changes_what_it_says_and_nothing_else():
    parent = Skill.create(SPEC)
    wide = Skill.from_bytes("ledger-export", parent.document + b"\n## Notes\n\nKept.\n", {"a.md": b"kept"})
    child = updated(wide, replace(SPEC, steps=("Pull.", "Match.", "Check.")))
    assert child.text == wide.text.replace("1. Pull the export.\n2. Match rows.", "1. Pull.\n2. Match.\n3. Check.")
    assert dict(child.files) == {"a.md": b"kept"}
    assert updated(wide, SPEC) == wide


def test_a_spec_is_no_version_of_a_skill_in_free_form():
    free = Skill.from_bytes("x", b"---\nname: x\ndescription: d\n---\n\nJust text.\n")
    with pytest.raises(SubmissionRefused, match="hand in the whole skill") as refusal:
        updated(free, SPEC)
    assert refusal.value.code == "target_not_structured"
    assert updated(free, Skill.create(SPEC)) == Skill.create(SPEC)


def test_a_text_that_the_skill_cannot_hold_is_refused():
    with pytest.raises(SubmissionRefused) as refusal:
        updated(Skill.create(SPEC), replace(SPEC, when_to_use="# A heading of its own"))
    assert refusal.value.code == "unfit_text"
