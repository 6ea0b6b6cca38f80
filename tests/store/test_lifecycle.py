"""The lifecycle against a model in memory: any order of entering, offering, deciding, going back and editing."""

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
from pytest_skillevo.store import Proposal, Store

from .invariants import assert_whole

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

    @rule(id=revisions)
    def go_back_by_hand(self, id: str) -> None:
        content = self.store.skill_of(self.store.revision(id))
        if content.exists:
            shutil.rmtree(self.folder, ignore_errors=True)
            content.write(self.folder)
            self.disk = content

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
        if self.status[id] is Status.PENDING_APPROVAL and self.can_follow(self.parents[id], self.contents[id]):
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
            self.store.expire(id, "clock", "too old")
            self.status[id] = Status.EXPIRED
        else:
            with pytest.raises(StoreError):
                self.store.expire(id, "clock", "too old")

    @rule(id=revisions)
    def reevaluate(self, id: str) -> None:
        if self.status[id] in WAITING:
            self.store.reevaluate(id, {"more": self.made}, actor="ci")
            self.status[id] = Status.PENDING_APPROVAL
        else:
            with pytest.raises(StoreError):
                self.store.reevaluate(id, actor="ci")

    @rule(target=revisions, late=st.booleans())
    def offer(self, late: bool) -> str:
        self.made += 1
        parent = version(-self.made) if late else self.disk
        proposal = Proposal(NAME, version(self.made), parent, Action.UPDATE, "reviewer", {})
        revision = self.store.offer(proposal, actor="reviewer", reason="")
        self.contents[revision.id] = proposal.content.digest
        self.parents[revision.id] = parent.digest
        self.status[revision.id] = Status.REJECTED
        if self.can_follow(parent.digest, proposal.content.digest):
            self.become_active(revision.id)
        return revision.id

    @rule()
    def restore(self) -> None:
        if self.active is None:
            with pytest.raises(StoreError):
                self.store.restore(NAME, "omar")
            return
        active = self.store.revision(self.active)
        kept = active.digest == self.disk.digest or self.has_archived(self.disk.digest)
        before = len(self.status)
        assert self.store.restore(NAME, "omar").id == self.active
        self.learn()
        assert len(self.status) == before + (not kept)
        self.disk = self.store.skill_of(active)

    @rule()
    def adopt(self) -> None:
        adopted = self.store.adopt(NAME, "nina")
        if adopted.id != self.active:
            self.become_active(adopted.id)

    def has_archived(self, digest: str) -> bool:
        return any(status is Status.ARCHIVED and self.contents[id] == digest for id, status in self.status.items())

    def can_follow(self, parent: str, content: str) -> bool:
        """Whether a version may take the place of what is there, if it was judged against `parent`."""
        if self.disk.digest not in (parent, content):
            return False
        if self.active is None:
            return True
        active = self.contents[self.active]
        return active != content and (active == parent or not self.has_archived(parent))

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

    def learn(self) -> None:
        """What lay in the folder without a revision has become one; the store tells which."""
        for revision in self.store.revisions():
            if revision.id not in self.status:
                assert revision.source == "import"
                self.status[revision.id] = Status.ARCHIVED
                self.contents[revision.id] = revision.digest
                self.parents[revision.id] = revision.parent_digest

    def become_active(self, id: str) -> None:
        self.learn()
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

    @rule()
    def put_back_and_look(self) -> None:
        if self.active is not None:
            self.restore()
            assert_whole(self.store)


TestLifecycle = Lifecycle.TestCase
TestLifecycle.settings = settings(
    max_examples=25,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
