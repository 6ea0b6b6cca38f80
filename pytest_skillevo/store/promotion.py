"""Everything that moves a skill from one version to another: approve, promote, roll back, restore, adopt.

Each holds the lock of the skill, checks that the skill is what the candidate was judged against, and writes nothing
else than one transaction and one publication (spec/online-revisions.md 5, 14, 15).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Connection

from ..core.errors import StoreError
from ..core.judging import Standing
from ..core.revisions import APPROVABLE, Deed, Revision, Status
from ..core.skill import Skill
from . import words
from .audit import Change, note
from .database import Database
from .experiments import Clock, stamp
from .judge import Judge, as_proposal
from .lineage import FOUND, StaleParent, keep_edit, known_parent, load, make_active, rollback_target
from .place import Place
from .publication import Intent, Kind, Publications, lock_key
from .publisher import check_paths, executables
from .revisions import (
    Proposal,
    find_same,
    get_pointer,
    get_revision,
    insert_revision,
    set_judgement,
    set_parent,
    set_status,
)
from .snapshots import Version, get_snapshot, tree_of, version_of


class Promotions:
    """The moves of one partition's skills."""

    def __init__(
        self, database: Database, publications: Publications, place: Place, judge: Judge, clock: Clock
    ) -> None:
        self._database = database
        self._publications = publications
        self._place = place
        self._judge = judge
        self._clock = clock

    @contextmanager
    def lock(self, skill: str) -> Iterator[None]:
        """Hold the right to change statuses and files of a skill, among all processes; what was left is settled."""
        busy = f"another process is changing the skill {skill!r}; try again when it has finished."
        with self._database.lock(lock_key(self._place.key, skill), busy=busy):
            self._publications.settle(self._place.key, skill)
            yield

    def find(self, id: str) -> Revision:
        """The revision with this id or unambiguous beginning of one."""
        with self._database.read() as connection:
            return get_revision(connection, self._place.key, id)

    def is_fresh(self, revision: Revision) -> bool:
        """Whether the folder holds what a revision was judged against, or the revision itself."""
        present = load(self._place.folder(revision.skill), revision.skill)
        with self._database.read() as connection:
            pointer = get_pointer(connection, self._place.key, revision.skill)
        active = pointer is None or pointer.digest in {present.digest, revision.parent_digest}
        return active and present.digest in {revision.parent_digest, revision.digest}

    def approve(self, id: str, actor: str, reason: str, digest: str | None) -> Revision:
        """Publish a revision that waits for approval. Raises StoreError when it may not be."""
        with self.lock(self.find(id).skill):
            revision = self.find(id)
            if revision.status not in APPROVABLE:
                raise StoreError(words.not_approvable(revision))
            if digest is not None and not (digest and revision.digest.startswith(digest.lower())):
                raise StoreError(words.other_digest(revision, digest))
            change = Change(actor, reason, stamp(self._clock))
            judged, wanted = self._contents(revision)
            self._judge_again(revision, wanted, judged, change)
            folder = self._place.folder(revision.skill)
            present = load(folder, revision.skill)
            # The wanted bytes may be there already, brought by git or by a publication whose record power loss took.
            if present.digest not in {judged.digest, wanted.digest}:
                self._refuse_stale(revision, words.stale(revision, folder, judged, present), change)
            before = version_of(judged, executables(folder, tree_of(judged)))
            after = version_of(wanted, revision.executable)
            with self._database.write(durable=True) as connection:
                replaced = known_parent(connection, revision, judged, before, change)
                set_parent(connection, revision.id, replaced.id)
                intent = self._begin(connection, Kind.APPROVE, revision, replaced, folder, change, before, after)
            return self._publications.carry_out(intent)

    def promote(
        self, proposal: Proposal, standing: Standing, actor: str, reason: str, known: Revision | None = None
    ) -> Revision:
        """Publish a candidate that nothing holds, entering it in the same step, or `known` that was judged again.

        Returns the revision: active, or rejected when the skill has changed since it was judged, or publish_failed.
        """
        with self.lock(proposal.skill):
            with self._database.read() as connection:
                same = find_same(connection, self._place.key, proposal)
            if same is not None and known is None:
                return same
            change = Change(actor, reason, stamp(self._clock))
            folder = self._place.folder(proposal.skill)
            present = load(folder, proposal.skill)
            before = version_of(proposal.parent, executables(folder, tree_of(proposal.parent)))
            after = version_of(proposal.content, proposal.executable)
            try:
                if present.digest not in {proposal.parent.digest, proposal.content.digest}:
                    raise StaleParent(words.moved_on(proposal.skill, proposal.parent, present))
                with self._database.write(durable=True) as connection:
                    revision = self._enter_pending(connection, proposal, standing, change, known)
                    replaced = known_parent(connection, revision, proposal.parent, before, change)
                    set_parent(connection, revision.id, replaced.id)
                    intent = self._begin(connection, Kind.PROMOTE, revision, replaced, folder, change, before, after)
            except StaleParent as error:
                return self._enter_stale(proposal, standing, replace(change, reason=str(error)), known)
            try:
                return self._publications.carry_out(intent)
            except StoreError:
                return self.find(revision.id)

    def rollback(self, skill: str, actor: str, reason: str, to: str | None, force: bool) -> Revision:
        """Put back the version that the active one replaced, or the archived one named by `to`.

        Raises StoreError when there is none, when the gates of today block it (unless forced), or when the folder was
        edited since: an edit is never overwritten.
        """
        with self.lock(skill):
            change = Change(actor, reason, stamp(self._clock))
            with self._database.read() as connection:
                current = self._active(connection, skill)
                target = rollback_target(connection, current, to)
                now = get_snapshot(connection, skill, current.digest)
            parent, wanted = self._contents(target)
            if not force:
                self._require_safe(target, wanted, parent, change)
            folder = self._place.folder(skill)
            present = load(folder, skill)
            if present.digest not in {now.digest, wanted.digest}:
                raise StoreError(words.edited(current, folder, now, present))
            before = version_of(now, executables(folder, tree_of(now)))
            after = version_of(wanted, target.executable)
            with self._database.write(durable=True) as connection:
                intent = self._begin(connection, Kind.ROLLBACK, target, current, folder, change, before, after)
            return self._publications.carry_out(intent)

    def restore(self, skill: str, actor: str, reason: str) -> Revision:
        """Put the active version back over an edit of its folder; the edit becomes an archived revision first."""
        with self.lock(skill):
            change = Change(actor, reason, stamp(self._clock))
            with self._database.read() as connection:
                current = self._active(connection, skill)
                wanted = get_snapshot(connection, skill, current.digest)
            folder = self._place.folder(skill)
            present = load(folder, skill)
            before = version_of(present, executables(folder, tree_of(present)))
            with self._database.write(durable=True) as connection:
                edit = current
                if present.digest != current.digest:
                    edit = keep_edit(connection, current, present, before, change)
                after = version_of(wanted, current.executable)
                intent = self._begin(connection, Kind.RESTORE, current, edit, folder, change, before, after)
            return self._publications.carry_out(intent)

    def adopt(self, skill: str, actor: str, reason: str) -> Revision:
        """Make what lies in the skill folder the active version, as people edited it; no file is written."""
        with self.lock(skill):
            change = Change(actor, reason, stamp(self._clock))
            folder = self._place.folder(skill)
            present = load(folder, skill)
            version = version_of(present, executables(folder, tree_of(present)))
            with self._database.write(durable=True) as connection:
                pointer = get_pointer(connection, self._place.key, skill)
                if pointer is not None and pointer.digest == present.digest:
                    return get_revision(connection, self._place.key, pointer.revision)
                active = None if pointer is None else get_revision(connection, self._place.key, pointer.revision)
                return make_active(connection, (self._place.key, skill), present, version, active, change)

    def move(self, id: str, target: Status, deed: Deed, actor: str, reason: str) -> Revision:
        """Move a revision that is not published to another status."""
        with self.lock(self.find(id).skill), self._database.write(durable=True) as connection:
            revision = get_revision(connection, self._place.key, id)
            if Status.ACTIVE in {target, revision.status} or target is Status.ARCHIVED:
                raise StoreError(
                    f"{revision.id} is {revision.status.words}; only approve and rollback change what agents use."
                )
            set_status(connection, revision, target, deed, Change(actor, reason, stamp(self._clock)))
            return get_revision(connection, self._place.key, revision.id)

    # Under the lock from here on.

    def _contents(self, revision: Revision) -> tuple[Skill, Skill]:
        """What a revision was judged against, and what it is; checked against their digests."""
        with self._database.read() as connection:
            parent = get_snapshot(connection, revision.skill, revision.parent_digest)
            return parent, get_snapshot(connection, revision.skill, revision.digest)

    def _begin(
        self,
        connection: Connection,
        kind: Kind,
        target: Revision,
        replaced: Revision,
        folder: Path,
        change: Change,
        before: Version,
        after: Version,
    ) -> Intent:
        check_paths(folder, [*before.files, *after.files])
        intent = Intent(kind, target, replaced, folder, change, before, after)
        self._publications.begin(connection, intent)
        return intent

    def _active(self, connection: Connection, skill: str) -> Revision:
        pointer = get_pointer(connection, self._place.key, skill)
        if pointer is None:
            raise StoreError(f"nothing was ever published for skill {skill!r}, so there is nothing to roll back.")
        return get_revision(connection, self._place.key, pointer.revision)

    def _judge_again(self, revision: Revision, wanted: Skill, judged: Skill, change: Change) -> None:
        """Let the gates of today judge, if others have judged before. Raises StoreError when they do not agree."""
        if self._judge.knows(revision):
            return
        standing = self._judge.stand(as_proposal(revision, wanted, judged, revision.evidence))
        refused = standing.status in {Status.REJECTED, Status.PENDING_EVAL}
        with self._database.write(durable=True) as connection:
            set_judgement(connection, revision, revision.evidence, standing.record, revision.bypassed, change.at)
            if refused:
                deed = Deed.REJECT if standing.status is Status.REJECTED else Deed.HOLD
                set_status(connection, revision, standing.status, deed, replace(change, reason=standing.reason))
        if refused:
            changed = "the gates have changed since it was judged"
            why = "no gate had judged it yet" if revision.gates is None else changed
            raise StoreError(
                f"{revision.id} is {standing.status.words} now: {why}, and they do not let it pass ({standing.reason})."
            )

    def _require_safe(self, target: Revision, wanted: Skill, parent: Skill, change: Change) -> None:
        """Refuse to bring back what the gates of today block. What people wrote themselves was never judged."""
        if target.source == FOUND or self._judge.knows(target):
            return
        standing = self._judge.stand(as_proposal(target, wanted, parent, target.evidence))
        if standing.status is Status.REJECTED:
            with self._database.write(durable=True) as connection:
                note(connection, target, Deed.HOLD, replace(change, reason=standing.reason))
            raise StoreError(
                f"{target.id} was published once, but the gates of today block it ({standing.reason}). "
                "Choose another version with --to, or bring it back all the same with --force."
            )

    def _refuse_stale(self, revision: Revision, sentence: str, change: Change) -> None:
        """The candidate goes on waiting: the judged version may come back, with a git checkout or a rollback."""
        with self._database.write() as connection:
            note(connection, revision, Deed.STALE, replace(change, reason=sentence))
        raise StaleParent(sentence)

    def _enter_pending(
        self,
        connection: Connection,
        proposal: Proposal,
        standing: Standing,
        change: Change,
        known: Revision | None,
    ) -> Revision:
        if known is None:
            return insert_revision(
                connection,
                self._place.key,
                proposal,
                Status.PENDING,
                Deed.SUBMIT,
                change,
                replaces=None,
                gates=standing.record,
                bypassed=standing.bypassed,
            )
        set_judgement(connection, known, proposal.evidence, standing.record, standing.bypassed, change.at)
        if known.status is Status.PENDING:
            note(connection, known, Deed.REEVALUATE, change)
        else:
            set_status(connection, known, Status.PENDING, Deed.REEVALUATE, change)
        return get_revision(connection, self._place.key, known.id)

    def _enter_stale(self, proposal: Proposal, standing: Standing, change: Change, known: Revision | None) -> Revision:
        """Record a candidate that came too late as rejected, so that it does not vanish without a trace."""
        with self._database.write(durable=True) as connection:
            if known is not None:
                set_status(connection, known, Status.REJECTED, Deed.STALE, change)
                return get_revision(connection, self._place.key, known.id)
            return insert_revision(
                connection,
                self._place.key,
                proposal,
                Status.REJECTED,
                Deed.STALE,
                change,
                replaces=None,
                gates=standing.record,
            )
