"""Several real processes on one store."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_skillevo
from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.locks import LockBusy, file_lock
from pytest_skillevo.core.revisions import Status

EVERY_DATABASE = True


class Worker:
    def __init__(self, project, *action: str) -> None:
        environment = os.environ | {"PYTHONPATH": str(Path(pytest_skillevo.__file__).parents[1])}
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__).with_name("worker.py"), project.root, project.url or "-", *action],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment,
        )
        assert self.hear() == "ready"

    def hear(self) -> str:
        return self.process.stdout.readline().strip()

    def go(self) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> str:
        out, _ = self.process.communicate(timeout=120)
        return out.strip()


def test_two_processes_append_at_once_and_nothing_is_lost(project):
    with project.open() as store:
        for id in ("e1", "e2"):
            store.create_experiment(id, "s", id, {})
        workers = [Worker(project, "append", id, "60") for id in ("e1", "e2")]
        for worker in workers:
            worker.go()
        assert [worker.end() for worker in workers] == ["done", "done"]
        for id in ("e1", "e2"):
            keys = [entry.key for entry in store.entries(id)]
            assert keys == [f"{batch}/{n}" for batch in range(60) for n in range(20)]


def test_two_processes_on_one_experiment_record_nothing_twice(project):
    with project.open() as store:
        store.create_experiment("e1", "s", "f", {})
        workers = [Worker(project, "append", "e1", "30") for _ in range(2)]
        for worker in workers:
            worker.go()
        ends = sorted(worker.end() for worker in workers)
        keys = [entry.key for entry in store.entries("e1")]
        assert len(keys) == len(set(keys))
        assert len(keys) % 20 == 0
        assert any("already has" in end for end in ends)


def test_a_new_store_is_made_once_by_processes_that_open_it_together(project):
    workers = [Worker(project, "append", "nowhere", "1") for _ in range(3)]
    for worker in workers:
        worker.go()
    assert {worker.end() for worker in workers} == {"refused: there is no experiment 'nowhere' in the store"}


def test_of_two_rivals_that_are_approved_at_once_one_wins(project):
    with project.open() as store:
        rivals = [project.enter(store, content=project.version(n), source=f"experiment:{n}") for n in range(2)]
    workers = [Worker(project, "approve", rival.id) for rival in rivals]
    for worker in workers:
        worker.go()
    ends = [worker.end() for worker in workers]
    assert sorted(end.split(":")[0] for end in ends) == ["done", "refused"]
    assert any("judged against another version" in end for end in ends)
    with project.open() as store:
        (active,) = store.revisions(status=Status.ACTIVE)
        assert active.id == rivals[ends.index("done")].id
        assert project.files() | project.tree(store.skill_of(active)) == project.files()


def test_a_publication_at_work_is_seen_whole_and_waited_for(project):
    with project.open() as store:
        revision = project.enter(store)
        other = project.enter(store, content=project.version(1), source="experiment:e2")
    holder = Worker(project, "hold", revision.id)
    holder.go()
    assert holder.hear() == "holding"
    with project.open() as store:
        assert store.notices == ()
        assert store.revision(revision.id).status is Status.PENDING_APPROVAL
        assert project.files() == project.tree(project.seed)
        waiting = Worker(project, "approve", other.id)
        waiting.go()
        holder.go()
        assert holder.end() == "done"
        assert "judged against another version" in waiting.end()
        assert store.revision(revision.id).status is Status.ACTIVE


def test_a_process_killed_while_it_holds_the_lock_blocks_nobody(project):
    with project.open() as store:
        revision = project.enter(store)
    holder = Worker(project, "hold", revision.id)
    holder.go()
    assert holder.hear() == "holding"
    holder.process.kill()
    holder.end()
    with project.open() as store:
        assert store.notices == (
            f"an interrupted approve of {revision.id} (recipe-cookbook) was undone; it can be repeated.",
        )
        assert store.approve(revision.id, "nina").status is Status.ACTIVE
    assert project.files() == project.tree(project.better)


def test_a_lock_is_held_against_everyone_and_given_back(tmp_path):
    file = tmp_path / "lock"
    with file_lock(file):
        with pytest.raises(LockBusy, match="another process holds"), file_lock(file, wait=0):
            pass
        with pytest.raises(LockBusy, match="busy here"), file_lock(file, wait=0, busy="busy here"):
            pass
    with file_lock(file, wait=0):
        pass


def test_a_lock_that_cannot_be_opened_is_an_error_in_words(tmp_path):
    with pytest.raises(StoreError, match="cannot be locked"), file_lock(tmp_path / "missing" / "lock"):
        pass
