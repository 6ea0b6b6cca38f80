"""The lifecycle against a model in memory: any order of entering, deciding, rolling back, editing and reopening."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from pytest_skillevo.core.errors import StoreError
from pytest_skillevo.core.revisions import Action, Status
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.store import Store

NAME = "cat-facts"
WAITING = (Status.PENDING_APPROVAL, Status.PENDING_EVAL)


def version(number: int) -> Skill:
    return Skill.from_bytes(NAME, f"# Cat facts {number}\n".encode(), {f"extra{number % 3}.md": b"%d" % number})


class Lifecycle(RuleBasedStateMachine):
    revisions = Bundle("revisions")

    @initialize()
    def begin(self) -> None:
        memory = Path("/dev/shm")
        self.root = Path(tempfile.mkdtemp(dir=memory if os.access(memory, os.W_OK) else None))
        self.folder = self.root / "skills" / NAME
        self.made = 0
        self.disk = Skill.absent(NAME)
        self.status: dict[str, Status] = {}
        self.parents: dict[str, str] = {}
        self.contents: dict[str, str] = {}
        self.active: str | None = None
        self.store = self.open()
        self.edit()

    def open(self) -> Store:
        return Store.open(self.root / ".skillevo", skills=self.root / "skills")

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.root)

    @rule()
    def edit(self) -> None:
        self.made += 1
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.disk = version(self.made)
        self.disk.write(self.folder)

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.store = self.open()
        assert self.store.notices == ()

    @rule(target=revisions, status=st.sampled_from([*WAITING, Status.REJECTED]), delete=st.booleans())
    def enter(self, status: Status, delete: bool) -> str:
        self.made += 1
        delete = delete and self.disk.exists
        content = Skill.absent(NAME) if delete else version(self.made)
        action = Action.DELETE if delete else Action.UPDATE if self.disk.exists else Action.CREATE
        revision = self.store.add_revision(
            NAME,
            content,
            self.disk,
            action=action,
            source=f"experiment:{self.made}",
            status=status,
            evidence={},
            actor="model",
            reason="",
        )
        self.status[revision.id] = status
        self.contents[revision.id] = content.digest
        self.parents[revision.id] = self.disk.digest
        return revision.id

    @rule(id=revisions)
    def approve(self, id: str) -> None:
        fresh = self.disk.digest in (self.parents[id], self.contents[id])
        twin = self.active is not None and self.contents[self.active] == self.contents[id]
        if self.status[id] is Status.PENDING_APPROVAL and fresh and not twin:
            self.store.approve(id, "nina")
            self.become_active(id)
        else:
            with pytest.raises(StoreError):
                self.store.approve(id, "nina")

    @rule(id=revisions)
    def reject(self, id: str) -> None:
        if self.status[id] in WAITING:
            self.store.reject(id, "nina")
            self.status[id] = Status.REJECTED
        else:
            with pytest.raises(StoreError):
                self.store.reject(id, "nina")

    @rule(id=revisions)
    def expire(self, id: str) -> None:
        if self.status[id] in WAITING:
            self.store.change_status(id, Status.EXPIRED, "clock", "too old")
            self.status[id] = Status.EXPIRED
        else:
            with pytest.raises(StoreError):
                self.store.change_status(id, Status.EXPIRED, "clock", "too old")

    @rule(id=revisions)
    def reevaluate(self, id: str) -> None:
        if self.status[id] is Status.PENDING_EVAL:
            self.store.change_status(id, Status.PENDING_APPROVAL, "gate", "better evidence")
            self.status[id] = Status.PENDING_APPROVAL

    @rule(id=st.none() | revisions)
    def roll_back(self, id: str | None) -> None:
        active = None if self.active is None else self.store.revision(self.active)
        target = id or (active and active.parent)
        possible = (
            active is not None
            and target is not None
            and self.status[target] is Status.ARCHIVED
            and self.disk.digest in (active.digest, self.contents[target])
        )
        if possible:
            assert self.store.rollback(NAME, "omar", to=id).id == target
            self.become_active(target)
        else:
            with pytest.raises(StoreError):
                self.store.rollback(NAME, "omar", to=id)

    def become_active(self, id: str) -> None:
        # What lay in the folder without a revision has become one; the store tells which.
        for revision in self.store.revisions():
            if revision.id not in self.status:
                assert revision.source == "import"
                self.status[revision.id] = Status.ARCHIVED
                self.contents[revision.id] = revision.digest
                self.parents[revision.id] = revision.parent_digest
        if self.active is not None:
            self.status[self.active] = Status.ARCHIVED
        self.active = id
        self.status[id] = Status.ACTIVE
        self.disk = self.store.skill_of(self.store.revision(id))

    @invariant()
    def statuses_agree(self) -> None:
        if hasattr(self, "store"):
            assert {revision.id: revision.status for revision in self.store.revisions()} == self.status

    @invariant()
    def the_pointer_names_the_active_revision(self) -> None:
        if hasattr(self, "store"):
            pointer = self.store.pointer(NAME)
            assert (None if pointer is None else pointer.revision) == self.active

    @invariant()
    def the_folder_holds_what_it_should(self) -> None:
        if hasattr(self, "store"):
            present = Skill.load(self.folder) if self.folder.exists() else Skill.absent(NAME)
            assert present.digest == self.disk.digest

    @invariant()
    def the_audit_trail_is_a_chain(self) -> None:
        if hasattr(self, "store"):
            for revision in self.store.revisions():
                events = self.store.history(revision)
                assert [event.before for event in events] == [None, *(event.after for event in events[:-1])]
                assert events[-1].after is revision.status


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(
    max_examples=15,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
