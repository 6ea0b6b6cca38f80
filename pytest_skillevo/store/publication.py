"""Publications: a change of a skill's files and of its pointer as one step that survives a kill at any moment.

The order is: commit an intent, write the files, commit the result (statuses, pointer, audit; the intent goes). A
process that dies leaves an intent behind; whoever opens the store next in the same place finishes it when SKILL.md
already is the new one, and undoes it when it is still the old one (spec/online-revisions.md 5.2, 19 #2).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from ..core.errors import StoreError
from ..core.locks import LockBusy
from ..core.revisions import Deed, Revision, Status
from ..core.skill.folder import MAIN_FILE as MAIN
from .audit import Change, note
from .database import Database
from .experiments import Clock, stamp
from .publisher import Fault, check_paths, publish, read_file
from .revisions import get_revision, move_pointer, set_status
from .schema import INTENTS
from .snapshots import Version, get_snapshot, version_of


class Kind(StrEnum):
    """Why files are written."""

    APPROVE = "approve"
    PROMOTE = "promote"
    ROLLBACK = "rollback"
    #: The active version is put back over an edit, which has become a revision of its own.
    RESTORE = "restore"


_DEEDS: Final = {
    Kind.APPROVE: Deed.APPROVE,
    Kind.PROMOTE: Deed.PROMOTE,
    Kind.ROLLBACK: Deed.ROLLBACK,
    Kind.RESTORE: Deed.RESTORE,
}


@dataclass(frozen=True, slots=True)
class Intent:
    """A publication under way: `target` takes the place of `replaced` in `folder`."""

    kind: Kind
    target: Revision
    replaced: Revision
    folder: Path
    change: Change
    before: Version
    after: Version


class Publications:
    """Carries intents out, and settles those that were left behind. The caller holds the lock of the skill."""

    def __init__(self, database: Database, home: Path, place: str, clock: Clock, fault: Fault) -> None:
        self._database = database
        self._home = home
        #: Names this home among those that share the database; "" where none can.
        self._place = place
        self._clock = clock
        self._fault = fault

    def begin(self, connection: Connection, intent: Intent) -> None:
        """Write the intent, as part of the caller's transaction."""
        row = {
            "scope": intent.target.scope,
            "skill": intent.target.skill,
            "kind": intent.kind.value,
            "target": intent.target.id,
            "replaced": intent.replaced.id,
            "folder": _relative(intent.folder, self._home),
            "place": self._place,
            "actor": intent.change.actor,
            "reason": intent.change.reason,
        }
        if connection.execute(select(INTENTS.c.skill).where(_of(intent.target))).first():
            raise StoreError(
                f"an earlier publication of {intent.target.skill} was interrupted and cannot be finished yet: "
                f"check that {intent.folder} may be written, and try again."
            )
        connection.execute(INTENTS.insert().values(row))

    def carry_out(self, intent: Intent) -> Revision:
        """Write the files and commit the result; returns what is active then.

        Raises StoreError when the files cannot be written. They are the old ones then, and the audit trail says so.
        """
        self._fault("intent committed")
        try:
            publish(intent.folder, intent.before, intent.after, self._fault)
        except BaseException as problem:
            self._undo(intent, problem)
            if isinstance(problem, OSError | StoreError):
                raise StoreError(
                    f"{intent.target.id} was not published: {problem}. The skill folder is as it was."
                ) from problem
            raise
        return self._finish(intent)

    def pending(self) -> tuple[tuple[str, str], ...]:
        """Partition and skill of every intent of this place."""
        with self._database.read() as connection:
            query = select(INTENTS.c.scope, INTENTS.c.skill).where(INTENTS.c.place == self._place)
            return tuple((row.scope, row.skill) for row in connection.execute(query.order_by(INTENTS.c.skill)))

    def settle(self, scope: str, skill: str) -> str | None:
        """Finish or undo what a dead process left of this skill, and say so; None when there is nothing.

        What was begun in another place is given up: its files are not here, and nobody can wait for them.
        """
        with self._database.read() as connection:
            row = connection.execute(select(INTENTS).where(INTENTS.c.scope == scope, INTENTS.c.skill == skill)).first()
            if row is None:
                return None
            intent = self._intent(connection, row)
        what = f"an interrupted {intent.kind} of {intent.target.id} ({skill})"
        if row.place != self._place:
            self._drop(intent, "given up: it was interrupted in another place", failed=False)
            return f"{what} was given up: it was interrupted in another place."
        try:
            return f"{what} {self._settle(intent)}"
        except (OSError, StoreError) as error:
            # One skill that cannot be put right must not keep the others, or the reading of the store, waiting.
            return f"{what} cannot be finished yet: {error}"

    def repair(self) -> tuple[str, ...]:
        """Settle everything that was left in this place, in sentences; what a live process is at is left alone."""
        notices = []
        for scope, skill in self.pending():
            try:
                with self._database.lock(lock_key(scope, skill), wait=0):
                    notices.append(self.settle(scope, skill))
            except LockBusy:
                continue
        return tuple(notice for notice in notices if notice is not None)

    def _finish(self, intent: Intent) -> Revision:
        change = intent.change
        with self._database.write(durable=True) as connection:
            if intent.kind is Kind.RESTORE:
                note(connection, intent.target, Deed.RESTORE, change)
            else:
                superseded = replace(change, reason=f"{intent.kind}: replaced by {intent.target.id}")
                set_status(connection, intent.replaced, Status.ARCHIVED, Deed.ARCHIVE, superseded)
                set_status(connection, intent.target, Status.ACTIVE, _DEEDS[intent.kind], change)
                move_pointer(connection, intent.target, change.at)
            _delete(connection, intent)
            self._fault("before the last commit")
        self._fault("after the last commit")
        with self._database.read() as connection:
            return get_revision(connection, intent.target.scope, intent.target.id)

    def _undo(self, intent: Intent, problem: BaseException) -> None:
        """Put the old files back and drop the intent. If that fails too, the intent stays for the next repair."""
        try:
            publish(intent.folder, intent.after, intent.before)
        except (OSError, StoreError) as second:
            raise StoreError(
                f"{intent.target.id} was not published ({problem}), and the old files cannot be put back ({second}). "
                f"Make {intent.folder} writable; the next skillevo command puts them right."
            ) from problem
        failed = isinstance(problem, OSError | StoreError)
        self._drop(intent, f"not published: {problem or type(problem).__name__}", failed=failed)

    def _drop(self, intent: Intent, reason: str, *, failed: bool) -> None:
        """Forget an intent. A candidate that could not be published says so in its status and can be approved again."""
        change = replace(intent.change, reason=reason, at=stamp(self._clock))
        status = intent.target.status
        # A candidate whose publication was under way has no other status to go back to.
        parked = status is Status.PENDING or (failed and intent.kind is Kind.APPROVE)
        with self._database.write(durable=True) as connection:
            if parked and status is not Status.PUBLISH_FAILED:
                set_status(connection, intent.target, Status.PUBLISH_FAILED, Deed.FAIL, change)
            else:
                note(connection, intent.target, Deed.FAIL if failed else Deed.REPAIR, change)
            _delete(connection, intent)

    def _settle(self, intent: Intent) -> str:
        try:
            check_paths(intent.folder, [*intent.before.files, *intent.after.files])
            strange = _strangers(intent)
        except StoreError as error:
            strange = [str(error)]
        if strange:
            self._drop(intent, f"interrupted, and edited since: {', '.join(strange)}", failed=True)
            return f"was given up because these were edited since: {', '.join(strange)}. No file was touched."
        if _has_begun(intent):
            publish(intent.folder, intent.before, intent.after, self._fault)
            self._finish(intent)
            return "was finished."
        publish(intent.folder, intent.after, intent.before, self._fault)
        self._drop(intent, "interrupted before SKILL.md was replaced; undone", failed=False)
        return "was undone; it can be repeated."

    def _intent(self, connection: Connection, row: Row[Any]) -> Intent:
        target = get_revision(connection, row.scope, row.target)
        replaced = get_revision(connection, row.scope, row.replaced)
        return Intent(
            Kind(row.kind),
            target,
            replaced,
            Path(os.path.normpath(self._home / row.folder)),
            Change(row.actor, row.reason, stamp(self._clock)),
            version_of(get_snapshot(connection, row.skill, replaced.digest), replaced.executable),
            version_of(get_snapshot(connection, row.skill, target.digest), target.executable),
        )


def lock_key(scope: str, skill: str) -> str:
    """The name of the lock of one skill."""
    return f"skill {scope}\0{skill}"


def _strangers(intent: Intent) -> list[str]:
    """The files that are neither of the old nor of the new version: somebody else wrote them."""
    before, after = intent.before.files, intent.after.files
    return [
        path
        for path in sorted({*before, *after})
        if read_file(intent.folder, path) not in (before.get(path), after.get(path))
    ]


def _has_begun(intent: Intent) -> bool:
    """Whether the new version is there: its SKILL.md or, where that is no different, all its files."""
    before, after = intent.before.files, intent.after.files
    if before.get(MAIN) != after.get(MAIN):
        return read_file(intent.folder, MAIN) == after.get(MAIN)
    return all(read_file(intent.folder, path) == after.get(path) for path in {*before, *after})


def _of(revision: Revision) -> Any:
    return (INTENTS.c.scope == revision.scope) & (INTENTS.c.skill == revision.skill)


def _delete(connection: Connection, intent: Intent) -> None:
    connection.execute(INTENTS.delete().where(_of(intent.target)))


def _relative(folder: Path, home: Path) -> str:
    """The folder as seen from the store, so that a project may move as a whole."""
    try:
        return os.path.relpath(folder.absolute(), home.absolute())
    except ValueError:
        return str(folder.absolute())
