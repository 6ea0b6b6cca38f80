"""Promotion: approve and roll back as one step that survives a kill at any moment (spec/online-revisions.md 5, 14, 15).

The order is: lock, check, commit an intent, write the files, commit the result (statuses, pointer, audit; the intent
goes). A process that dies leaves an intent behind; whoever opens the store next finishes it when SKILL.md already is
the new one, and undoes it when it is still the old one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Row, select

from ..core.errors import SkillError, StoreError
from ..core.revisions import APPROVABLE, Action, Revision, Status
from ..core.skill import Skill
from ..core.skill.folder import MAIN_FILE as MAIN
from .database import Database
from .experiments import Clock, stamp
from .locks import LockBusy, file_lock
from .publisher import Fault, check_paths, publish, read_file, skill_folder
from .revisions import (
    Change,
    get_pointer,
    get_revision,
    insert_revision,
    move_pointer,
    note,
    set_parent,
    set_status,
)
from .schema import INTENTS
from .snapshots import Tree, get_snapshot, tree_of

APPROVE: Final = "approve"
ROLLBACK: Final = "rollback"


@dataclass(frozen=True, slots=True)
class Intent:
    """A publication under way: `target` takes the place of `replaced` in `folder`."""

    kind: str
    target: Revision
    replaced: Revision
    folder: Path
    change: Change
    before: Tree
    after: Tree


class Promotions:
    """Everything that moves a skill from one version to another."""

    def __init__(self, database: Database, home: Path, skills: Path | None, clock: Clock, fault: Fault) -> None:
        self._database = database
        self._home = home
        self._skills = skills
        self._clock = clock
        self._fault = fault

    @contextmanager
    def lock(self, *, wait: float | None = None) -> Iterator[None]:
        """Hold the right to change statuses and skill files, of this store, among all processes."""
        path = self._home / "publish.lock"
        with file_lock(path) if wait is None else file_lock(path, wait=wait):
            yield

    def approve(self, id: str, actor: str, reason: str) -> Revision:
        """Publish a revision that waits for approval. Raises StoreError when it may not be; nothing is changed then."""
        with self.lock():
            self._settle_all()
            with self._database.read() as connection:
                revision = get_revision(connection, id)
                if revision.status not in APPROVABLE:
                    raise StoreError(_not_approvable(revision))
                judged = get_snapshot(connection, revision.skill, revision.parent_digest)
                wanted = get_snapshot(connection, revision.skill, revision.digest)
            folder = self._folder(revision.skill)
            present = _load(folder, revision.skill)
            # The wanted bytes may be there already, brought by git or by a publication whose record power loss took.
            if present.digest not in {judged.digest, wanted.digest}:
                raise StoreError(_stale(revision, folder, judged, present))
            before, after = tree_of(judged), tree_of(wanted)
            check_paths(folder, [*before, *after])
            change = Change(actor, reason, stamp(self._clock))
            with self._database.write(durable=True) as connection:
                replaced = self._known_parent(connection, revision, judged, change)
                set_parent(connection, revision.id, replaced.id)
                intent = Intent(APPROVE, revision, replaced, folder, change, before, after)
                self._insert(connection, intent)
            return self._carry_out(intent)

    def rollback(self, skill: str, actor: str, reason: str, to: str | None = None) -> Revision:
        """Put back the version that the active one replaced, or the archived one named by `to`.

        Raises StoreError when there is none, or when the folder was edited since: an edit is never overwritten.
        """
        with self.lock():
            self._settle_all()
            with self._database.read() as connection:
                current = _active(connection, skill)
                target = _rollback_target(connection, current, to)
                now = get_snapshot(connection, skill, current.digest)
                wanted = get_snapshot(connection, skill, target.digest)
            folder = self._folder(skill)
            present = _load(folder, skill)
            if present.digest not in {now.digest, wanted.digest}:
                raise StoreError(_edited(current, folder, now, present))
            before, after = tree_of(now), tree_of(wanted)
            check_paths(folder, [*before, *after])
            change = Change(actor, reason, stamp(self._clock))
            intent = Intent(ROLLBACK, target, current, folder, change, before, after)
            with self._database.write(durable=True) as connection:
                self._insert(connection, intent)
            return self._carry_out(intent)

    def repair(self) -> tuple[str, ...]:
        """Finish or undo what a dead process left; says what was done. A live process at work is left alone."""
        with self._database.read() as connection:
            if connection.execute(select(INTENTS.c.skill)).first() is None:
                return ()
        try:
            with self.lock(wait=0):
                return self._settle_all()
        except LockBusy:
            return ()

    # Under the lock from here on.

    def _folder(self, skill: str) -> Path:
        if self._skills is None:
            raise StoreError("the store was opened without a skills folder, so it cannot publish")
        return skill_folder(self._skills, skill)

    def _known_parent(self, connection: Connection, revision: Revision, judged: Skill, change: Change) -> Revision:
        """The active revision with the judged content; what lies on disk becomes one if it is none yet."""
        pointer = get_pointer(connection, revision.skill)
        active = None if pointer is None else get_revision(connection, pointer.revision)
        if active is not None and active.digest == revision.digest:
            raise StoreError(f"{revision.id} has the same content as {active.id}, which is active already; reject it.")
        if active is not None and active.digest == revision.parent_digest:
            return active
        imported = replace(change, reason=f"found in the skill folder when {revision.id} was approved")
        if active is not None:
            set_status(connection, active, Status.ARCHIVED, replace(change, reason="edited in the skill folder"))
            origin = get_snapshot(connection, revision.skill, active.digest)
        else:
            origin = Skill.absent(revision.skill)
        seed = insert_revision(
            connection,
            revision.skill,
            judged,
            origin,
            action=_action(origin, judged),
            source="import",
            status=Status.ACTIVE,
            evidence={},
            replaces=None if active is None else active.id,
            change=imported,
        )
        move_pointer(connection, seed, change.at)
        return seed

    def _insert(self, connection: Connection, intent: Intent) -> None:
        if connection.execute(select(INTENTS.c.skill).where(INTENTS.c.skill == intent.target.skill)).first():
            raise StoreError(
                f"an earlier publication of {intent.target.skill} was interrupted and cannot be finished yet: "
                f"check that {intent.folder} may be written, and try again."
            )
        row = {
            "skill": intent.target.skill,
            "kind": intent.kind,
            "target": intent.target.id,
            "replaced": intent.replaced.id,
            "folder": _relative(intent.folder, self._home),
            "actor": intent.change.actor,
            "reason": intent.change.reason,
        }
        connection.execute(INTENTS.insert().values(row))

    def _carry_out(self, intent: Intent) -> Revision:
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

    def _finish(self, intent: Intent) -> Revision:
        change = intent.change
        with self._database.write(durable=True) as connection:
            superseded = replace(change, reason=f"{intent.kind}: replaced by {intent.target.id}")
            set_status(connection, intent.replaced, Status.ARCHIVED, superseded)
            set_status(connection, intent.target, Status.ACTIVE, change)
            move_pointer(connection, intent.target, change.at)
            _delete(connection, intent)
            self._fault("before the last commit")
        self._fault("after the last commit")
        with self._database.read() as connection:
            return get_revision(connection, intent.target.id)

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
        change = replace(intent.change, reason=reason, at=stamp(self._clock))
        with self._database.write(durable=True) as connection:
            if failed and intent.kind == APPROVE and intent.target.status is not Status.PUBLISH_FAILED:
                set_status(connection, intent.target, Status.PUBLISH_FAILED, change)
            else:
                note(connection, intent.target, change)
            _delete(connection, intent)

    def _settle_all(self) -> tuple[str, ...]:
        with self._database.read() as connection:
            rows = connection.execute(select(INTENTS).order_by(INTENTS.c.skill)).all()
        notices = []
        for row in rows:
            try:
                with self._database.read() as connection:
                    intent = self._intent(connection, row)
                notices.append(self._settle(intent))
            except (OSError, StoreError) as error:
                # One skill that cannot be put right must not keep the others, or the reading of the store, waiting.
                notices.append(
                    f"an interrupted {row.kind} of {row.target} ({row.skill}) cannot be finished yet: {error}"
                )
        return tuple(notices)

    def _settle(self, intent: Intent) -> str:
        what = f"an interrupted {intent.kind} of {intent.target.id} ({intent.target.skill})"
        try:
            check_paths(intent.folder, [*intent.before, *intent.after])
            strange = _strangers(intent)
        except StoreError as error:
            strange = [str(error)]
        if strange:
            self._drop(intent, f"interrupted, and edited since: {', '.join(strange)}", failed=True)
            return f"{what} was given up because these were edited since: {', '.join(strange)}. No file was touched."
        if _has_begun(intent):
            publish(intent.folder, intent.before, intent.after, self._fault)
            self._finish(intent)
            return f"{what} was finished."
        publish(intent.folder, intent.after, intent.before, self._fault)
        self._drop(intent, "interrupted before SKILL.md was replaced; undone", failed=False)
        return f"{what} was undone; it can be repeated."

    def _intent(self, connection: Connection, row: Row[Any]) -> Intent:
        target = get_revision(connection, row.target)
        replaced = get_revision(connection, row.replaced)
        return Intent(
            row.kind,
            target,
            replaced,
            Path(os.path.normpath(self._home / row.folder)),
            Change(row.actor, row.reason, stamp(self._clock)),
            tree_of(get_snapshot(connection, row.skill, replaced.digest)),
            tree_of(get_snapshot(connection, row.skill, target.digest)),
        )


def _strangers(intent: Intent) -> list[str]:
    """The files that are neither of the old nor of the new version: somebody else wrote them."""
    return [
        path
        for path in sorted({*intent.before, *intent.after})
        if read_file(intent.folder, path) not in (intent.before.get(path), intent.after.get(path))
    ]


def _has_begun(intent: Intent) -> bool:
    """Whether the new version is there: its SKILL.md or, where that is no different, all its files."""
    if intent.before.get(MAIN) != intent.after.get(MAIN):
        return read_file(intent.folder, MAIN) == intent.after.get(MAIN)
    return all(read_file(intent.folder, path) == intent.after.get(path) for path in {*intent.before, *intent.after})


def _delete(connection: Connection, intent: Intent) -> None:
    connection.execute(INTENTS.delete().where(INTENTS.c.skill == intent.target.skill))


def _active(connection: Connection, skill: str) -> Revision:
    pointer = get_pointer(connection, skill)
    if pointer is None:
        raise StoreError(f"nothing was ever published for skill {skill!r}, so there is nothing to roll back.")
    return get_revision(connection, pointer.revision)


def _rollback_target(connection: Connection, current: Revision, to: str | None) -> Revision:
    if to is None and current.parent is None:
        raise StoreError(f"{current.id} is the first known version of {current.skill}; there is none before it.")
    target = get_revision(connection, to or current.parent or "")
    if target.skill != current.skill:
        raise StoreError(f"{target.id} is a revision of {target.skill}, not of {current.skill}.")
    if target.status is not Status.ARCHIVED:
        raise StoreError(f"{target.id} is {target.status.words}; only an archived revision can be rolled back to.")
    return target


def _load(folder: Path, skill: str) -> Skill:
    if not os.path.lexists(folder / MAIN):
        return Skill.absent(skill)
    try:
        return Skill.load(folder)
    except SkillError as error:
        raise StoreError(f"the present version of {skill} cannot be read: {error}") from None


def _action(before: Skill, after: Skill) -> Action:
    if not after.exists:
        return Action.DELETE
    return Action.UPDATE if before.exists else Action.CREATE


def _relative(folder: Path, home: Path) -> str:
    """The folder as seen from the store, so that a project may move as a whole."""
    try:
        return os.path.relpath(folder.absolute(), home.absolute())
    except ValueError:
        return str(folder.absolute())


def _differences(expected: Skill, present: Skill) -> str:
    old, new = tree_of(expected), tree_of(present)
    changed = [path for path in sorted({*old, *new}) if old.get(path) != new.get(path)]
    words = {True: "is new", False: "differs"}
    return ", ".join(f"{path} {'is gone' if path not in new else words[path not in old]}" for path in changed)


def _not_approvable(revision: Revision) -> str:
    if revision.status is Status.PENDING_EVAL:
        return f"{revision.id} waits for better evidence (pending eval); it cannot be approved yet."
    return f"{revision.id} is {revision.status.words}; only a revision that waits for approval can be approved."


def _stale(revision: Revision, folder: Path, judged: Skill, present: Skill) -> str:
    return (
        f"{revision.id} was judged against another version of {revision.skill} than the one in {folder}: "
        f"{_differences(judged, present)}. Evaluate it again (pytest --evolve) on the present version, "
        "or put the judged version back and approve again."
    )


def _edited(current: Revision, folder: Path, published: Skill, present: Skill) -> str:
    return (
        f"{folder} was edited since {current.id} was published: {_differences(published, present)}. "
        "A rollback would lose that; keep a copy, undo the edit, and roll back again."
    )
