"""What a person approves is what was judged, by the gates of today, on the parent of then."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.gates.records import Gates
from pytest_skillevo.core.judging import standard_gates
from pytest_skillevo.core.revisions import Action, Deed, Status
from pytest_skillevo.core.skill import Skill, SkillSpec
from pytest_skillevo.store import StaleParent

from .gate import gates
from .invariants import assert_whole

EVERY_DATABASE = True
NAME = "recipe-cookbook"


def test_an_approval_may_name_the_content_that_was_looked_at(store, project):
    revision = project.enter(store)
    for digest in ("0" * 64, "", "xyz"):
        with pytest.raises(StoreError, match="it is not the content that you looked at"):
            store.approve(revision.id, "nina", digest=digest)
    assert project.files() == project.tree(project.seed)
    assert store.approve(revision.id, "nina", digest=revision.digest[:12].upper()).status is Status.ACTIVE


def test_gates_of_another_version_judge_again_and_may_reject(project):
    with project.open(gates=gates("1", safety=None)) as store:
        revision = project.enter(store)
    with project.open(gates=gates("2", safety="secret")) as store:
        with pytest.raises(StoreError, match=r"is rejected now: the gates have changed .*\(safety: secret\)"):
            store.approve(revision.id, "nina")
        after = store.revision(revision.id)
        assert after.status is Status.REJECTED
        assert [event.deed for event in store.history(after)] == [Deed.SUBMIT, Deed.REJECT]
        assert "safety 2" in after.gates["version"]
        assert project.files() == project.tree(project.seed)
        assert_whole(store)


def test_gates_of_another_version_may_ask_for_better_evidence(project):
    with project.open(gates=gates("1", effectiveness=None)) as store:
        revision = project.enter(store)
    with project.open(gates=gates("2", effectiveness="weak", human="held")) as store:
        with pytest.raises(StoreError, match="is pending eval now"):
            store.approve(revision.id, "nina")
        assert store.revision(revision.id).status is Status.PENDING_EVAL


def test_gates_of_the_same_version_are_not_asked_again(project):
    asked = gates("1", safety=None, human="held")
    with project.open(gates=asked) as store:
        revision = store.offer(project.proposal(), actor="reviewer", reason="")
        assert store.approve(revision.id, "nina").status is Status.ACTIVE
    assert len(asked.safety.asked) == 1


def test_what_entered_before_there_were_gates_is_judged_at_approval(project):
    with project.open() as store:
        revision = project.enter(store)
    with project.open(gates=gates(safety=None, human="held")) as store:
        approved = store.approve(revision.id, "nina")
        assert approved.status is Status.ACTIVE
        assert [verdict["gate"] for verdict in approved.gates["verdicts"]] == ["safety", "human"]


def test_a_failed_publication_is_judged_again_too(project, monkeypatch):
    with project.open(gates=gates("1", safety=None)) as store:
        revision = project.enter(store)
        with monkeypatch.context() as patch:
            patch.setattr("pytest_skillevo.store.publication.publish", _fails)
            with pytest.raises(StoreError):
                store.approve(revision.id, "nina")
    with project.open(gates=gates("2", safety="secret")) as store:
        assert store.revision(revision.id).status is Status.PUBLISH_FAILED
        with pytest.raises(StoreError, match="is rejected now"):
            store.approve(revision.id, "nina")


def _fails(folder, before, after, fault=None):
    if after.files != before.files and b"at most twice" in after.files["SKILL.md"]:
        raise OSError(28, "No space left on device")


def test_a_deletion_of_what_has_changed_since_is_refused(store, project):
    gone = project.enter(store, content=Skill.absent(NAME), action=Action.DELETE)
    store.approve(project.enter(store).id, "nina")
    with pytest.raises(StaleParent, match="was judged against another version"):
        store.approve(gone.id, "nina")
    assert project.files() == project.tree(project.better)
    assert store.history(gone)[-1].deed is Deed.STALE
    assert store.revision(gone.id).status is Status.PENDING_APPROVAL


def test_a_creation_of_what_exists_by_now_is_refused(store, project):
    new = Skill.from_bytes("cat-facts", b"# New\n")
    late = store.add(
        project.proposal(skill="cat-facts", content=new, parent=Skill.absent("cat-facts"), action=Action.CREATE),
        status=Status.PENDING_APPROVAL,
        actor="reviewer",
        reason="",
    )
    Skill.from_bytes("cat-facts", b"# By hand\n").write(project.skills / "cat-facts")
    with pytest.raises(StaleParent, match=r"SKILL\.md is new"):
        store.approve(late.id, "nina")


def test_what_was_judged_against_an_older_version_is_refused_although_the_folder_holds_that(store, project):
    first = store.approve(project.enter(store).id, "nina")
    late = project.enter(store, content=project.version(1), source="experiment:e2")
    for path in project.files():
        (project.folder / path).unlink()
    project.seed.write(project.folder)
    with pytest.raises(StaleParent, match=rf"which {first.id} has replaced\. Roll back to rv-.* first"):
        store.approve(late.id, "nina")
    older = store.revision(first.parent)
    store.rollback(NAME, "nina", to=older.id)
    assert store.approve(late.id, "nina").status is Status.ACTIVE
    assert_whole(store)


def test_a_deletion_is_archived_when_the_skill_is_made_again(store, project):
    gone = store.approve(project.enter(store, content=Skill.absent(NAME), action=Action.DELETE).id, "nina")
    again = project.enter(
        store, content=project.version(1), parent=Skill.absent(NAME), action=Action.CREATE, source="reviewer"
    )
    assert again.parent == gone.id
    store.approve(again.id, "nina")
    assert store.revision(gone.id).status is Status.ARCHIVED
    assert [revision.id for revision in store.revisions(status=Status.ACTIVE)] == [again.id]


def test_a_rollback_to_what_the_gates_of_today_block_needs_force(project):
    with project.open(gates=gates("1", safety=None)) as store:
        bad = store.approve(project.enter(store).id, "nina")
        store.approve(project.enter(store, content=project.version(1), parent=project.better).id, "nina")
    only_bad = gates("2", safety=lambda candidate: "secret" if candidate.skill == project.better else None)
    with project.open(gates=only_bad) as store:
        with pytest.raises(StoreError, match=r"the gates of today block it \(safety: secret\).*--force"):
            store.rollback(NAME, "omar")
        assert project.files() == project.tree(project.version(1))
        assert store.rollback(NAME, "omar", force=True).id == bad.id
        assert_whole(store)


def test_a_rollback_to_what_people_wrote_is_not_judged(project):
    with project.open() as store:
        store.approve(project.enter(store).id, "nina")
    with project.open(gates=gates("2", safety="secret")) as store:
        assert store.rollback(NAME, "omar").digest == project.seed.digest


def test_a_decision_that_the_gates_cannot_make_leaves_everything_as_it_was(project):
    class Broken:
        version = "3"

        def judge(self, candidate):
            raise RuntimeError("no model")

    with project.open() as store:
        revision = project.enter(store)
    with project.open(gates=Gates(safety=Broken())) as store:
        with pytest.raises(StoreError, match="gate_error"):
            store.approve(revision.id, "nina")
        assert project.files() == project.tree(project.seed)


def test_expired_is_final(store, project):
    revision = store.expire(project.enter(store).id, "clock", "nobody looked")
    assert revision.status is Status.EXPIRED
    assert store.history(revision)[-1].deed is Deed.EXPIRE
    for decide in (store.approve, store.reject, store.expire):
        with pytest.raises(StoreError, match="is expired"):
            decide(revision.id, "nina")


def test_the_trail_of_everything_is_in_the_order_of_time_across_skills(store, project):
    Skill.from_bytes("alpha", b"# Alpha\n").write(project.skills / "alpha")
    first = store.offer(project.proposal(), actor="one", reason="")
    second = store.offer(
        project.proposal(
            skill="alpha",
            content=Skill.from_bytes("alpha", b"# Alpha 2\n"),
            parent=Skill.from_bytes("alpha", b"# Alpha\n"),
        ),
        actor="two",
        reason="",
    )
    store.rollback(NAME, "three")
    events = store.audit()
    assert [event.at for event in events] == sorted(event.at for event in events)
    assert [event.skill for event in store.audit(limit=2)] == [NAME, NAME]
    assert {event.revision for event in store.audit("alpha")} >= {second.id}
    assert first.id not in {event.revision for event in store.audit("alpha")}
    assert store.counts()[Deed.ROLLBACK] == 1
    assert store.counts()[Deed.PROMOTE] == 2


def test_a_new_skill_that_git_has_brought_already_is_no_duplicate_of_itself(project):
    new = Skill.create(SkillSpec("Cat facts", "Facts about cats.", "When asked.", ("Look.", "Tell."), ()))
    proposal = project.proposal(skill="cat-facts", content=new, parent=Skill.absent("cat-facts"), action=Action.CREATE)
    with project.open() as store:
        revision = store.add(proposal, status=Status.PENDING_APPROVAL, actor="reviewer", reason="")
    new.write(project.skills / "cat-facts")
    with project.open(gates=standard_gates()) as store:
        assert store.approve(revision.id, "nina").status is Status.ACTIVE


def test_an_attempt_that_was_refused_does_not_make_a_revision_younger(store, project):
    revision = project.enter(store)
    entered = store.waiting_since(revision)
    (project.folder / "SKILL.md").write_bytes(b"# by hand\n")
    with pytest.raises(StaleParent):
        store.approve(revision.id, "nina")
    assert store.waiting_since(revision) == entered == revision.created_at
    assert store.waiting_since(store.reject(revision.id, "nina")) > entered
