"""Permissions to execute belong to a version, and come back with it."""

from __future__ import annotations

import os

import pytest

from pytest_skillevo.core.revisions import Status

NAME = "recipe-cookbook"
SCRIPT = "scripts/fetch.py"


@pytest.fixture
def script(project):
    (project.folder / SCRIPT).chmod(0o750)
    return project.folder / SCRIPT


def executable(project) -> set[str]:
    return {path for path in project.files() if os.access(project.folder / path, os.X_OK)}


def test_a_script_stays_executable_when_a_new_version_replaces_it(script, store, project):
    revision = store.approve(project.enter(store).id, "nina")
    assert revision.executable == (SCRIPT,)
    assert script.read_bytes() == b"print('v2')\n"
    assert script.stat().st_mode & 0o777 == 0o750
    assert executable(project) == {SCRIPT}


def test_a_rollback_brings_permissions_back(script, store, project):
    store.approve(project.enter(store).id, "nina")
    script.chmod(0o640)
    store.rollback(NAME, "omar")
    assert script.read_bytes() == b"print('v1')\n"
    assert script.stat().st_mode & 0o777 == 0o750


def test_a_deleted_script_comes_back_executable(script, store, project):
    gone = project.proposal(content=type(project.seed).from_bytes(NAME, project.better.document))
    store.offer(gone, actor="reviewer", reason="")
    assert not script.exists()
    store.rollback(NAME, "omar")
    assert executable(project) == {SCRIPT}


def test_whoever_may_read_a_script_may_execute_it_and_nobody_else(store, project):
    (project.folder / SCRIPT).chmod(0o640)
    store.offer(project.proposal(executable=(SCRIPT,)), actor="reviewer", reason="")
    assert (project.folder / SCRIPT).stat().st_mode & 0o777 == 0o750


def test_permissions_that_nobody_recorded_are_left_alone(script, store, project):
    with project.open(skills=None) as blind:
        revision = project.enter(blind)
    assert revision.executable is None
    store.approve(revision.id, "nina")
    assert executable(project) == {SCRIPT}


def test_a_failed_publication_leaves_the_permissions_as_they_were(script, project):
    def fails(step):
        if step == "after writing scripts/fetch.py":
            raise OSError(28, "No space left on device")

    with project.open(fault=fails) as store:
        revision = project.enter(store, status=Status.PENDING_APPROVAL)
        with pytest.raises(Exception, match="not published"):
            store.approve(revision.id, "nina")
    assert executable(project) == {SCRIPT}
    assert project.files() == project.tree(project.seed)


def test_what_a_version_does_not_name_may_not_be_executed_after_it(script, store, project):
    store.offer(project.proposal(executable=()), actor="reviewer", reason="")
    assert executable(project) == set()
    assert script.stat().st_mode & 0o777 == 0o640
