from __future__ import annotations

import threading
from itertools import pairwise

import pytest

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.revisions import Action, Status
from pytest_skillevo.core.skill import Skill

EVERY_DATABASE = True


def test_a_candidate_waits_and_leaves_the_folder_alone(store, project):
    revision = project.enter(store)
    assert revision.id.startswith("rv-")
    assert revision.status is Status.PENDING_APPROVAL
    assert store.skill_of(revision).digest == project.better.digest
    assert store.parent_of(revision).digest == project.seed.digest
    assert store.pointer(revision.skill) is None
    assert project.files() == project.tree(project.seed)


def test_the_same_source_enters_the_same_content_once(store, project):
    first = project.enter(store)
    assert project.enter(store) == first
    assert project.enter(store, source="experiment:e2").id != first.id
    assert len(store.revisions()) == 2


def test_a_version_that_changes_nothing_is_refused(store, project):
    with pytest.raises(StoreError, match="same as the one before"):
        project.enter(store, content=project.seed)


@pytest.mark.parametrize("status", [Status.ACTIVE, Status.ARCHIVED, Status.EXPIRED, Status.PUBLISH_FAILED])
def test_nothing_enters_the_store_as_if_it_had_been_published(store, project, status):
    with pytest.raises(StoreError, match="cannot enter the store"):
        project.enter(store, status=status)


def test_approval_writes_the_files_and_moves_the_pointer(store, project):
    project.folder.joinpath("SKILL.md").chmod(0o640)
    revision = store.approve(project.enter(store).id, "nina", "good")
    assert revision.status is Status.ACTIVE
    assert revision.promoted_at is not None
    assert project.files() == project.tree(project.better)
    assert (project.folder / "SKILL.md").stat().st_mode & 0o777 == 0o640
    assert store.pointer(revision.skill).revision == revision.id
    assert store.pointer(revision.skill).digest == project.better.digest
    assert [(event.after, event.actor, event.reason) for event in store.history(revision)] == [
        (Status.PENDING_APPROVAL, "skillevo", "better on 15 of 30 cases"),
        (Status.ACTIVE, "nina", "good"),
    ]


def test_the_seed_becomes_a_revision_so_that_its_bytes_can_come_back(store, project):
    revision = store.approve(project.enter(store).id, "nina")
    (seed,) = store.revisions(status=Status.ARCHIVED)
    assert revision.parent == seed.id
    assert (seed.source, seed.action, seed.digest) == ("import", Action.CREATE, project.seed.digest)
    restored = store.rollback(revision.skill, "omar", "worse in production")
    assert restored.id == seed.id
    assert project.files() == project.tree(project.seed)
    assert store.pointer(revision.skill).revision == seed.id
    assert store.revision(revision.id).status is Status.ARCHIVED
    assert store.history(restored)[-1].actor == "omar"


def test_a_rollback_can_be_rolled_back(store, project):
    revision = store.approve(project.enter(store).id, "nina")
    store.rollback(revision.skill, "omar")
    with pytest.raises(StoreError, match="first known version"):
        store.rollback(revision.skill, "omar")
    again = store.rollback(revision.skill, "omar", to=revision.id)
    assert again.status is Status.ACTIVE
    assert project.files() == project.tree(project.better)
    store.rollback(revision.skill, "omar")
    assert project.files() == project.tree(project.seed)


def test_rollbacks_go_back_step_by_step(store, project):
    versions = [project.seed, *(project.version(n) for n in range(3))]
    for before, after in pairwise(versions):
        store.approve(project.enter(store, content=after, parent=before).id, "nina")
    for expected in reversed(versions[:-1]):
        store.rollback("recipe-cookbook", "omar")
        assert project.files() == project.tree(expected)


def test_there_is_never_more_than_one_active_revision(store, project):
    one = project.enter(store)
    other = project.enter(store, content=project.version(1), source="experiment:e2")
    store.approve(one.id, "nina")
    with pytest.raises(StoreError, match=f"{other.id} was judged against another version"):
        store.approve(other.id, "nina")
    assert [revision.id for revision in store.revisions(status=Status.ACTIVE)] == [one.id]
    assert store.revision(other.id).status is Status.PENDING_APPROVAL


def test_a_stale_parent_is_refused_with_what_changed(store, project):
    revision = project.enter(store)
    (project.folder / "notes.md").unlink()
    (project.folder / "extra.md").write_bytes(b"new")
    (project.folder / "scripts/fetch.py").write_bytes(b"edited")
    before = project.files()
    with pytest.raises(StoreError) as refusal:
        store.approve(revision.id, "nina")
    assert "extra.md is new, notes.md is gone, scripts/fetch.py differs" in str(refusal.value)
    assert "pytest --evolve" in str(refusal.value)
    assert project.files() == before
    assert store.revision(revision.id).status is Status.PENDING_APPROVAL


def test_an_edit_made_in_git_becomes_a_revision_when_the_next_one_is_approved(store, project):
    first = store.approve(project.enter(store).id, "nina")
    edited = project.version(7)
    for path in project.files():
        (project.folder / path).unlink()
    edited.write(project.folder)
    second = project.enter(store, content=project.version(8), parent=edited)
    assert second.parent is None
    store.approve(second.id, "nina")
    found = store.revision(store.revision(second.id).parent)
    assert (found.source, found.digest, found.parent) == ("import", edited.digest, first.id)
    store.rollback("recipe-cookbook", "nina")
    assert project.files() == project.tree(edited)
    store.rollback("recipe-cookbook", "nina")
    assert project.files() == project.tree(project.better)


def test_bytes_that_git_has_brought_already_are_adopted(store, project):
    revision = project.enter(store)
    (project.folder / "notes.md").unlink()
    project.better.write(project.folder)
    assert store.approve(revision.id, "nina").status is Status.ACTIVE
    store.rollback("recipe-cookbook", "nina")
    assert project.files() == project.tree(project.seed)


def test_content_that_is_active_already_is_not_approved_again(store, project):
    one, twin = project.enter(store), project.enter(store, source="experiment:e2")
    store.approve(one.id, "nina")
    with pytest.raises(StoreError, match=f"same content as {one.id}"):
        store.approve(twin.id, "nina")
    assert store.reject(twin.id, "nina").status is Status.REJECTED


def test_a_hand_edit_is_never_overwritten_by_a_rollback(store, project):
    store.approve(project.enter(store).id, "nina")
    (project.folder / "SKILL.md").write_bytes(b"# by hand\n")
    with pytest.raises(StoreError, match=r"was edited since rv-.*: SKILL\.md differs"):
        store.rollback("recipe-cookbook", "nina")
    assert (project.folder / "SKILL.md").read_bytes() == b"# by hand\n"


def test_debris_and_foreign_files_of_other_tools_stay(store, project):
    debris = project.folder / "__pycache__" / "fetch.pyc"
    debris.parent.mkdir()
    debris.write_bytes(b"\0")
    store.approve(project.enter(store).id, "nina")
    assert debris.read_bytes() == b"\0"


@pytest.mark.parametrize("status", [Status.PENDING, Status.PENDING_EVAL, Status.REJECTED])
def test_only_what_waits_for_approval_is_approved(store, project, status):
    revision = project.enter(store, status=status)
    with pytest.raises(StoreError, match=rf"{revision.id} "):
        store.approve(revision.id, "nina")
    assert project.files() == project.tree(project.seed)


def test_a_decision_is_made_once(store, project):
    revision = project.enter(store)
    store.reject(revision.id, "nina", "too long")
    for decide in (store.approve, store.reject):
        with pytest.raises(StoreError, match="is rejected"):
            decide(revision.id, "omar")
    assert [event.after for event in store.history(revision)] == [Status.PENDING_APPROVAL, Status.REJECTED]


def test_what_is_published_is_changed_by_approve_and_rollback_only(store, project):
    revision = store.approve(project.enter(store).id, "nina")
    waiting = project.enter(store, content=project.version(1), parent=project.better)
    for id, target in ((revision.id, Status.ARCHIVED), (revision.id, Status.REJECTED), (waiting.id, Status.ACTIVE)):
        with pytest.raises(StoreError, match="only approve and rollback"):
            store.change_status(id, target, "nina", "")


def test_a_parked_revision_can_be_moved_on(store, project):
    revision = project.enter(store, status=Status.PENDING_EVAL)
    moved = store.change_status(revision.id, Status.PENDING_APPROVAL, "skillevo", "better evidence")
    assert moved.status is Status.PENDING_APPROVAL
    assert store.approve(revision.id, "nina").status is Status.ACTIVE


def test_a_first_version_is_created_and_its_rollback_removes_it(store, project):
    name = "cat-facts"
    created = store.add_revision(
        name,
        Skill.from_bytes(name, b"# Cat facts\n", {"a/b/c.txt": b"deep"}),
        Skill.absent(name),
        action=Action.CREATE,
        source="reviewer",
        status=Status.PENDING_APPROVAL,
        evidence={},
        actor="reviewer",
        reason="",
    )
    folder = project.skills / name
    store.approve(created.id, "nina")
    assert (folder / "a/b/c.txt").read_bytes() == b"deep"
    nothing = store.rollback(name, "nina")
    assert nothing.action is Action.DELETE
    assert not folder.exists()
    store.rollback(name, "nina", to=created.id)
    assert (folder / "SKILL.md").read_bytes() == b"# Cat facts\n"


def test_a_deletion_removes_the_skill_and_keeps_what_is_not_its_own(store, project):
    (project.folder / ".git").mkdir()
    (project.folder / ".git/config").write_bytes(b"mine")
    gone = project.enter(store, content=Skill.absent("recipe-cookbook"), action=Action.DELETE)
    store.approve(gone.id, "nina")
    assert project.files() == {".git/config": b"mine"}
    store.rollback("recipe-cookbook", "nina")
    assert project.files() == {".git/config": b"mine", **project.tree(project.seed)}


def test_a_file_may_become_a_folder_and_the_other_way_round(store, project):
    folder_like = Skill.from_bytes("recipe-cookbook", project.seed.document, {"notes.md/a.md": b"a", "scripts": b"s"})
    store.approve(project.enter(store, content=folder_like).id, "nina")
    assert project.files() == project.tree(folder_like)
    store.rollback("recipe-cookbook", "nina")
    assert project.files() == project.tree(project.seed)


@pytest.mark.parametrize("place", ["", "SKILL.md", "scripts", "data"])
def test_symbolic_links_are_refused(store, project, place, tmp_path):
    revision = project.enter(store)
    outside = tmp_path / "outside"
    target = project.folder / place
    if target.exists():
        target.rename(outside)
    else:
        outside.mkdir()
    target.symlink_to(outside)
    before = sorted(path.read_bytes() for path in outside.rglob("*") if path.is_file())
    with pytest.raises(StoreError, match="link"):
        store.approve(revision.id, "nina")
    assert sorted(path.read_bytes() for path in outside.rglob("*") if path.is_file()) == before
    assert store.revision(revision.id).status is Status.PENDING_APPROVAL


@pytest.mark.parametrize("name", ["../evil", "..", ".", "a/b", "a\\b", "", "nul\0", "half \ud800"])
def test_a_name_that_is_no_folder_name_is_refused(store, project, name):
    with pytest.raises(StoreError, match="cannot be the name of a skill folder"):
        store.add_revision(
            name,
            project.better,
            project.seed,
            action=Action.UPDATE,
            source="submission",
            status=Status.PENDING_APPROVAL,
            evidence={},
            actor="ci",
            reason="",
        )
    assert store.revisions() == ()


def test_the_absence_of_another_skill_is_no_parent(store, project):
    with pytest.raises(StoreError, match="not of another skill"):
        project.enter(store, parent=Skill.absent("cat-facts"), action=Action.CREATE)


def test_a_failed_write_changes_nothing_and_can_be_repeated(store, project, monkeypatch):
    revision = project.enter(store)
    import pytest_skillevo.store.publisher as publisher

    real = publisher.atomic_write

    def full(path, data):
        if path.name == "SKILL.md" and b"at most twice" in data:
            raise OSError(28, "No space left on device")
        real(path, data)

    monkeypatch.setattr(publisher, "atomic_write", full)
    with pytest.raises(StoreError, match=r"not published: .*No space left"):
        store.approve(revision.id, "nina")
    assert project.files() == project.tree(project.seed)
    assert store.revision(revision.id).status is Status.PUBLISH_FAILED
    with pytest.raises(StoreError, match="not published"):
        store.approve(revision.id, "nina")
    monkeypatch.setattr(publisher, "atomic_write", real)
    assert store.approve(revision.id, "nina").status is Status.ACTIVE
    assert project.files() == project.tree(project.better)


def test_an_interrupt_by_the_user_undoes_the_publication(project):
    def interrupt(step):
        if step == "after writing SKILL.md":
            raise KeyboardInterrupt

    with project.open(fault=interrupt) as store:
        revision = project.enter(store)
        with pytest.raises(KeyboardInterrupt):
            store.approve(revision.id, "nina")
        assert project.files() == project.tree(project.seed)
        assert store.revision(revision.id).status is Status.PENDING_APPROVAL
        assert store.repair() == ()


def test_a_damaged_snapshot_is_not_published(store, project):
    from pytest_skillevo.store.schema import SNAPSHOT_FILES

    revision = project.enter(store)
    with store._database.write() as connection:
        connection.execute(SNAPSHOT_FILES.delete().where(SNAPSHOT_FILES.c.path == "data/units.csv"))
    with pytest.raises(StoreError, match="damaged"):
        store.approve(revision.id, "nina")
    assert project.files() == project.tree(project.seed)


def test_rollback_goes_to_archived_revisions_of_the_same_skill_only(store, project):
    with pytest.raises(StoreError, match="nothing was ever published"):
        store.rollback("recipe-cookbook", "nina")
    revision = store.approve(project.enter(store).id, "nina")
    with pytest.raises(StoreError, match="only an archived revision"):
        store.rollback("recipe-cookbook", "nina", to=revision.id)
    waiting = project.enter(store, content=project.version(1), parent=project.better)
    with pytest.raises(StoreError, match="is pending approval"):
        store.rollback("recipe-cookbook", "nina", to=waiting.id)
    with pytest.raises(StoreError, match="no revision 'rv-0'"):
        store.rollback("recipe-cookbook", "nina", to="rv-0")


def test_ids_may_be_shortened_as_long_as_they_fit_one(store, project):
    ids = [project.enter(store, content=project.version(n), source=f"experiment:{n}").id for n in range(40)]
    assert len(set(ids)) == 40
    for id in ids:
        assert store.revision(id).id == id
        assert store.revision(id[3:].upper()).id == id
    for digit in "0123456789abcdef":
        fitting = [id for id in ids if id.startswith(f"rv-{digit}")]
        if len(fitting) == 1:
            assert store.revision(f"rv-{digit}").id == fitting[0]
        elif fitting:
            with pytest.raises(StoreError, match="fits several revisions"):
                store.revision(digit)


@pytest.mark.parametrize("id", ["rv-zz", "", "rv-", "rv-_", "%", "rv-1' or '1'='1", "\0", "\ud800"])
def test_what_is_no_id_finds_nothing(store, project, id):
    project.enter(store)
    with pytest.raises(StoreError, match="there is no revision"):
        store.revision(id)


def test_revisions_are_listed_newest_first_and_by_skill(store, project):
    first, second = project.enter(store), project.enter(store, content=project.version(1), source="reviewer")
    assert [revision.id for revision in store.revisions()] == [second.id, first.id]
    assert [revision.id for revision in store.revisions("recipe-cookbook")] == [second.id, first.id]
    assert store.revisions("other") == ()
    assert store.revisions(status=Status.ACTIVE) == ()
    assert second.created_at > first.created_at


def test_evidence_comes_back_as_it_was_given(store, project):
    evidence = {"z": [1, None, "\0\ud800"], "a": {"b": 0.1}}
    revision = project.enter(store, evidence=evidence)
    found = store.revision(revision.id).evidence
    assert found == evidence
    assert list(found) == ["z", "a"]


def test_two_threads_that_approve_get_one_success(project):
    with project.open() as store:
        revision = project.enter(store)
    answers = []

    def approve():
        with project.open() as mine:
            try:
                answers.append(mine.approve(revision.id, "nina").status)
            except StoreError as error:
                answers.append(str(error))

    threads = [threading.Thread(target=approve) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.count(Status.ACTIVE) == 1
    assert sum("is active" in str(answer) for answer in answers if answer is not Status.ACTIVE) == 3
    assert project.files() == project.tree(project.better)
