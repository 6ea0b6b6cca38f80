"""SIGKILL at every durable step of approve, rollback, create, delete and repair: afterwards the old or the new version
is there, whole, and files, pointer, statuses and audit agree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import pytest_skillevo
from pytest_skillevo.core.revisions import Action, Status
from pytest_skillevo.core.skill import Skill

from .invariants import assert_whole

NAME = "recipe-cookbook"


def kill_everywhere(template: Path, work: Path, *action: str, stride: int = 1) -> list[Path]:
    work.mkdir()
    script = Path(__file__).with_name("killing.py")
    command = [sys.executable, script, template, work, str(stride), *action]
    # The very package under test, installed or not.
    environment = os.environ | {"PYTHONPATH": str(Path(pytest_skillevo.__file__).parents[1])}
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=300, env=environment)
    assert done.returncode == 0, done.stderr
    return sorted(work.iterdir())


def check(project, old: Skill, new: Skill) -> bool:
    """Open, which repairs, and check that all agree; whether the new version is the one that is there.

    It is the one whose SKILL.md was seen before: a repair never takes back what an agent may have read.
    """
    main = project.folder / "SKILL.md"
    seen = main.read_bytes() if main.exists() else b""
    assert seen in (old.document, new.document)
    is_new = seen == new.document
    with project.open() as store:
        assert project.files() == project.tree(new if is_new else old)
        assert store.repair() == ()
        pointer = store.pointer(NAME)
        active = store.revisions(NAME, Status.ACTIVE)
        if pointer is None:
            assert not is_new
            assert active == ()
        else:
            assert [revision.id for revision in active] == [pointer.revision]
            assert active[0].digest == pointer.digest == (new if is_new else old).digest
        for revision in store.revisions():
            events = store.history(revision)
            assert [event.before for event in events] == [None, *(event.after for event in events[:-1])]
            assert events[-1].after is revision.status
            assert revision.status in (Status.PENDING_APPROVAL, Status.ACTIVE, Status.ARCHIVED)
    return is_new


@pytest.fixture
def work():
    """A folder in memory, where there is one: hundreds of copies are synchronised, and a kill loses no memory."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture
def project(work, new_project):
    root = work / "template"
    root.mkdir()
    made = new_project(root)
    made.lay_out()
    return made


@pytest.fixture
def approval(project):
    with project.open() as store:
        return project, project.seed, project.better, ("approve", project.enter(store).id)


@pytest.fixture
def restoration(project):
    with project.open() as store:
        store.approve(project.enter(store).id, "nina")
    return project, project.better, project.seed, ("rollback", NAME)


@pytest.fixture
def creation(project):
    shutil.rmtree(project.folder)
    with project.open() as store:
        made = project.enter(store, parent=Skill.absent(NAME), action=Action.CREATE)
    return project, Skill.absent(NAME), project.better, ("approve", made.id)


@pytest.fixture
def deletion(project):
    with project.open() as store:
        gone = project.enter(store, content=Skill.absent(NAME), action=Action.DELETE)
    return project, project.seed, Skill.absent(NAME), ("approve", gone.id)


@pytest.mark.parametrize("kind", ["approval", "restoration", "creation", "deletion"])
def test_a_kill_at_any_step_leaves_the_old_or_the_new_version(kind, request, new_project, work):
    project, old, new, action = request.getfixturevalue(kind)
    killed = kill_everywhere(project.root, work / "killed", *action)
    results = []
    for number, root in enumerate(killed):
        copy = new_project(root)
        results.append(check(copy, old, new))
        # Whatever was undone can be repeated; a third of the copies show it as well as all would.
        if not results[-1] and number % 3 == 0:
            with copy.open() as store:
                store.approve(action[1], "nina") if action[0] == "approve" else store.rollback(NAME, "omar")
            assert check(copy, old, new)
    assert results[0] is False
    assert results[-1] is True
    assert sorted(results) == results, "once the new version is there, a later kill does not bring back the old one"
    assert len(results) > 12


@pytest.mark.parametrize("kind", ["approval", "restoration"])
def test_a_kill_during_the_repair_is_repaired_too(kind, request, new_project, work):
    project, old, new, action = request.getfixturevalue(kind)
    for root in kill_everywhere(project.root, work / "first", *action, stride=8)[:-1]:
        for twice in kill_everywhere(root, work / f"again-{root.name}", "open", stride=3):
            check(new_project(twice), old, new)


def test_the_project_may_be_moved_between_the_kill_and_the_repair(approval, new_project, work):
    project, old, new, action = approval
    results = []
    for root in kill_everywhere(project.root, work / "killed", *action, stride=5):
        moved = work / f"moved-{root.name}"
        root.rename(moved)
        results.append(check(new_project(moved), old, new))
    assert False in results
    assert True in results


def test_an_edit_after_the_kill_is_not_overwritten_by_the_repair(approval, new_project, work):
    project, _, _, action = approval
    given_up = 0
    for root in kill_everywhere(project.root, work / "killed", *action, stride=3)[:-1]:
        copy = new_project(root)
        (copy.folder / "SKILL.md").write_bytes(b"# by hand\n")
        with copy.open() as store:
            assert (copy.folder / "SKILL.md").read_bytes() == b"# by hand\n"
            revision = store.revision(action[1])
            if store.notices:
                given_up += 1
                assert "SKILL.md" in store.notices[0]
                assert revision.status is Status.PUBLISH_FAILED
                assert store.repair() == ()
            else:
                assert revision.status in (Status.PENDING_APPROVAL, Status.ACTIVE)
    assert given_up > 2


def test_a_kill_while_a_candidate_is_promoted_leaves_it_active_or_to_be_approved(project, new_project, work):
    with project.open() as store:
        parked = project.enter(store, status=Status.PENDING_EVAL, source="reviewer")
    found = set()
    for root in kill_everywhere(project.root, work / "killed", "promote", parked.id, stride=2):
        copy = new_project(root)
        with copy.open() as store:
            assert_whole(store)
            status = store.revision(parked.id).status
            assert copy.files() == copy.tree(copy.better if status is Status.ACTIVE else copy.seed)
            if status is Status.PENDING_EVAL:
                store.reevaluate(parked.id, {"more": 1}, actor="ci")
            elif status is Status.PUBLISH_FAILED:
                store.approve(parked.id, "nina")
            assert copy.files() == copy.tree(copy.better)
            assert_whole(store)
        found.add(status)
    assert found == {Status.PENDING_EVAL, Status.PUBLISH_FAILED, Status.ACTIVE}


def test_a_kill_while_a_folder_is_restored_loses_neither_version(project, new_project, work):
    with project.open() as store:
        active = store.approve(project.enter(store).id, "nina")
    (project.folder / "SKILL.md").write_bytes(b"# by hand\n")
    (project.folder / "scripts" / "fetch.py").unlink()
    edited = project.files()
    done = []
    for root in kill_everywhere(project.root, work / "killed", "restore", NAME, stride=2):
        copy = new_project(root)
        with copy.open() as store:
            assert copy.files() in (edited, copy.tree(copy.better))
            done.append(copy.files() != edited)
            if not done[-1]:
                store.restore(NAME, "nina")
            assert_whole(store)
            assert store.pointer(NAME).revision == active.id
            kept = [store.skill_of(one) for one in store.revisions(status=Status.ARCHIVED)]
            assert edited in [copy.tree(skill) for skill in kept]
    assert sorted(done) == done
    assert set(done) == {False, True}


def test_a_kill_while_the_store_is_made_leaves_one_that_opens(project, new_project, work):
    for root in kill_everywhere(project.root, work / "killed", "open"):
        copy = new_project(root)
        with copy.open() as store:
            assert copy.enter(store).status is Status.PENDING_APPROVAL
