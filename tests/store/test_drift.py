"""Folders that are not what the store says: told, put back, or taken over."""

from __future__ import annotations

import pytest

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.revisions import Deed, Status
from pytest_skillevo.core.skill import Skill

from .invariants import assert_whole

EVERY_DATABASE = True
NAME = "recipe-cookbook"
SCRIPT = "scripts/fetch.py"


@pytest.fixture
def active(store, project):
    (project.folder / SCRIPT).chmod(0o755)
    return store.approve(project.enter(store).id, "nina")


def only(store):
    (drift,) = store.drift()
    return drift


def test_what_was_published_is_no_drift(store, active):
    assert store.drift() == ()
    assert store.repair() == ()


def test_an_edit_is_told_with_what_differs(store, active, project):
    (project.folder / "SKILL.md").write_bytes(b"# by hand\n")
    (project.folder / "more.md").write_bytes(b"more")
    drift = only(store)
    assert (drift.skill, drift.revision, drift.kind) == (NAME, active.id, "edited")
    assert drift.what == "SKILL.md differs, more.md is new"
    assert store.drift("other") == ()


def test_an_older_version_is_known_by_name(store, active, project):
    for path in project.files():
        (project.folder / path).unlink()
    project.seed.write(project.folder)
    assert (only(store).kind, only(store).what) == ("older", f"the folder holds {active.parent}")


def test_a_missing_folder_a_strange_one_and_lost_permissions_are_told(store, active, project, tmp_path):
    (project.folder / SCRIPT).chmod(0o644)
    assert (only(store).kind, only(store).what) == ("permissions", f"{SCRIPT} may not be executed")
    moved = tmp_path / "moved"
    project.folder.rename(moved)
    assert only(store).kind == "missing"
    project.folder.symlink_to(moved)
    assert only(store).kind == "unreadable"
    assert "symbolic link" in only(store).what


def test_restoring_keeps_the_edit_as_a_revision_that_can_come_back(store, active, project):
    (project.folder / "SKILL.md").write_bytes(b"# by hand\n")
    assert store.restore(NAME, "nina", "not agreed").id == active.id
    assert project.files() == project.tree(project.better)
    assert store.history(active)[-1].deed is Deed.RESTORE
    (kept,) = [one for one in store.revisions(status=Status.ARCHIVED) if one.id != active.parent]
    assert store.skill_of(kept).document == b"# by hand\n"
    assert_whole(store)
    assert store.rollback(NAME, "omar", to=kept.id).id == kept.id
    assert project.files()["SKILL.md"] == b"# by hand\n"
    assert_whole(store)


def test_restoring_twice_keeps_an_edit_once(store, active, project):
    for _ in range(2):
        (project.folder / "SKILL.md").write_bytes(b"# by hand\n")
        store.restore(NAME, "nina")
    assert store.count(status=Status.ARCHIVED) == 2


def test_restoring_puts_back_what_was_removed_and_what_may_be_executed(store, active, project):
    (project.folder / SCRIPT).chmod(0o644)
    store.restore(NAME, "nina")
    assert store.drift() == ()
    for path in project.files():
        (project.folder / path).unlink()
    store.restore(NAME, "nina")
    assert project.files() == project.tree(project.better)
    assert store.drift() == ()


def test_adopting_makes_the_edit_the_active_version(store, active, project):
    (project.folder / "SKILL.md").write_bytes(b"# by hand\n")
    before = project.files()
    adopted = store.adopt(NAME, "nina", "better so")
    assert (adopted.status, adopted.source, adopted.parent) == (Status.ACTIVE, "import", active.id)
    assert project.files() == before
    assert store.revision(active.id).status is Status.ARCHIVED
    assert store.adopt(NAME, "nina") == adopted
    assert_whole(store)
    store.rollback(NAME, "omar")
    assert project.files() == project.tree(project.better)


def test_a_skill_that_was_never_published_can_be_adopted(store, project):
    adopted = store.adopt(NAME, "nina")
    assert (adopted.digest, adopted.status) == (project.seed.digest, Status.ACTIVE)
    assert store.pointer(NAME).revision == adopted.id
    with pytest.raises(StoreError, match="nothing was ever published"):
        store.restore("cat-facts", "nina")


def test_an_edit_that_no_skill_can_be_read_from_is_neither_restored_over_nor_adopted(store, active, project):
    (project.folder / "SKILL.md").write_bytes(b"\xff\xfe")
    for fix in (store.restore, store.adopt):
        with pytest.raises(StoreError, match="cannot be read"):
            fix(NAME, "nina")
    assert project.files()["SKILL.md"] == b"\xff\xfe"


def test_an_interrupted_restoration_is_finished_or_undone(project):
    class Died(BaseException):
        pass

    def dies(step):
        if step == "after writing SKILL.md":
            raise Died

    with project.open() as store:
        store.approve(project.enter(store).id, "nina")
    (project.folder / "SKILL.md").write_bytes(b"# by hand\n")
    with project.open(fault=dies) as store, pytest.raises(Died):
        store.restore(NAME, "nina")
    assert project.files()["SKILL.md"] == b"# by hand\n"
    with project.open() as store:
        assert only(store).kind == "older"
        store.restore(NAME, "nina")
        assert_whole(store)


def test_drift_needs_a_folder_to_compare_with(project):
    with project.open(skills=None) as store, pytest.raises(StoreError, match="without a skills folder"):
        store.drift()


def test_a_skill_in_a_partition_of_its_own_is_compared_there(project, store):
    view = store.at("@apps/crm")
    new = Skill.from_bytes("cat-facts", b"# Cats\n")
    view.offer(project.proposal(skill="cat-facts", content=new, parent=Skill.absent("cat-facts")), actor="x", reason="")
    (project.skills / "@apps" / "crm" / "cat-facts" / "SKILL.md").write_bytes(b"# Dogs\n")
    assert [one.skill for one in view.drift()] == ["cat-facts"]
    assert store.drift() == ()
