"""Submissions from outside: looked up in order, judged, left for a person."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_skillevo.core.judging import standard_gates
from pytest_skillevo.core.revisions import Action, Status
from pytest_skillevo.core.scopes import Scope, ScopeMode
from pytest_skillevo.core.skill import Skill, SkillSpec
from pytest_skillevo.core.submission import Submission, SubmissionEvidence, SubmissionRefused
from pytest_skillevo.store.repository import Repository
from pytest_skillevo.store.submission import RevisionSubmitter

EVERY_DATABASE = True
NAME = "recipe-cookbook"
SPEC = SkillSpec(
    NAME, "Build a cookbook.", "When asked.", ("List the dishes.", "Look them up once."), ("Invent nothing.",)
)
NEW = replace(SPEC, name="Ledger Export")


@pytest.fixture
def submitter(store, project):
    return RevisionSubmitter(store, Repository(project.skills))


def refused(submitter, submission: Submission) -> str:
    before = submitter._store.count()
    with pytest.raises(SubmissionRefused) as refusal:
        submitter.submit(submission, "lab")
    assert submitter._store.count() == before
    return refusal.value.code


def test_an_update_changes_the_components_and_waits_for_a_person(submitter, store, project):
    evidence = SubmissionEvidence(0.5, 0.9, 0.4, 12, {"cost": 1.0}, "x1", "d1")
    revision = submitter.submit(Submission(SPEC, evidence=evidence, source="lab"), "nina")
    assert (revision.status, revision.action, revision.source) == (
        Status.PENDING_APPROVAL,
        Action.UPDATE,
        "submission:lab",
    )
    assert revision.parent_digest == project.seed.digest
    assert revision.evidence["submission"]["delta"] == 0.4
    assert project.files() == project.tree(project.seed)
    store.approve(revision.id, "nina")
    assert b"2. Look them up once.\n" in project.files()["SKILL.md"]
    assert project.files()["notes.md"] == b"old notes\n"


def test_a_creation_gets_a_folder_and_is_rendered_in_the_strict_form(submitter, store, project):
    revision = submitter.submit(Submission(NEW, "create"), "nina")
    assert (revision.skill, revision.name, revision.source) == ("ledger-export", "Ledger Export", "submission")
    store.approve(revision.id, "nina")
    made = Skill.load(project.skills / "ledger-export")
    assert made.spec == replace(NEW, name="ledger-export")
    assert made.warnings == ()


def test_a_whole_skill_is_taken_byte_for_byte(submitter, store, project):
    revision = submitter.submit(Submission(project.better), "nina")
    store.approve(revision.id, "nina")
    assert project.files() == project.tree(project.better)


def test_creations_whose_slugs_collide_do_not_meet(submitter, store):
    folders = []
    for name in ("C++ Build", "C Build", "C# Build"):
        revision = submitter.submit(Submission(replace(SPEC, name=name), "create"), "nina")
        assert store.skill_of(revision).name == revision.skill
        folders.append(revision.skill)
    assert folders[0] == "c-build"
    assert len(set(folders)) == 3


def test_what_is_looked_up_is_looked_up_in_order(submitter, store, project, tmp_path):
    assert refused(submitter, Submission(SPEC, "create")) == "target_exists"
    assert refused(submitter, Submission(replace(SPEC, name="Recipe cookbook"), "create")) == "target_exists"
    assert refused(submitter, Submission(replace(SPEC, name="Ghost"))) == "target_missing"
    assert refused(submitter, Submission(SPEC, parent="rv-12345678")) == "parent_missing"
    assert refused(RevisionSubmitter(store, None), Submission(SPEC)) == "target_missing"
    bundled = tmp_path / "bundled"
    Skill.from_bytes("ghost", SPEC.name.encode()).write(bundled / "ghost")
    others = RevisionSubmitter(store, Repository(project.skills, others=[bundled]))
    assert refused(others, Submission(replace(SPEC, name="ghost"))) == "target_not_managed"
    with project.open(protected=["recipe-*"]) as guarded:
        assert refused(RevisionSubmitter(guarded, Repository(project.skills)), Submission(SPEC)) == "target_not_managed"


def test_a_parent_must_be_the_active_revision(submitter, store, project):
    first = store.approve(project.enter(store).id, "nina")
    waiting = submitter.submit(Submission(SPEC, parent=first.id), "lab")
    assert waiting.parent == first.id
    second = project.enter(store, content=project.version(1), parent=project.better, source="experiment:e2")
    store.approve(second.id, "nina")
    assert refused(submitter, Submission(SPEC, parent=first.id)) == "stale_parent"
    with pytest.raises(Exception, match="was judged against another version"):
        store.approve(waiting.id, "nina")


def test_what_the_gates_refuse_is_stored_and_given_back(project):
    with project.open(gates=standard_gates()) as store:
        submitter = RevisionSubmitter(store, Repository(project.skills))
        thin = submitter.submit(Submission(replace(NEW, steps=("one",)), "create"), "lab")
        assert thin.status is Status.REJECTED
        worse = submitter.submit(Submission(SPEC, evidence=SubmissionEvidence(0.95, 0.85, -0.1, 9)), "lab")
        assert worse.status is Status.PENDING_EVAL
        other = replace(SPEC, description="Another one.")
        better = submitter.submit(Submission(other, evidence=SubmissionEvidence(0.2, 0.6, 0.4, 9)), "lab")
        assert better.status is Status.PENDING_APPROVAL


def test_no_setting_of_the_human_gate_lets_a_submission_through(project):
    with project.open(gates=replace(standard_gates(), human=None)) as store:
        submitter = RevisionSubmitter(store, Repository(project.skills))
        assert submitter.submit(Submission(SPEC), "lab").status is Status.PENDING_APPROVAL


def test_a_submission_handed_in_twice_is_one(submitter, store):
    assert submitter.submit(Submission(SPEC), "lab") == submitter.submit(Submission(SPEC), "lab")
    assert store.count() == 1


def test_a_scoped_service_must_be_told_whose_skill_it_is(store, project):
    scoped = RevisionSubmitter(store, Repository(project.skills, Scope("crm", "nina")), ScopeMode.USER)
    assert refused(scoped, Submission(NEW, "create")) == "scope_required"
    assert refused(scoped, Submission(NEW, "create", scope=Scope("crm"))) == "scope_required"
    revision = scoped.submit(Submission(NEW, "create", scope=Scope("crm", "nina")), "lab")
    assert revision.scope == "@users/crm/nina"
    assert refused(scoped, Submission(SPEC, scope=Scope("crm", "nina"))) == "target_not_managed"
