"""Revisions, active pointers and the audit trail in the database. No file is touched here; see promotion.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, select

from ..core.canonical import digest_json
from ..core.errors import StoreError
from ..core.revisions import Action, AuditEvent, Revision, Status, check_transition
from ..core.skill import Skill
from .columns import decode_json, encode_json
from .schema import AUDIT, POINTERS, REVISIONS
from .snapshots import put_snapshot

_PREFIX: Final = "rv-"
#: Hex digits of an id; a longer one is taken when two would be equal.
_DIGITS: Final = 8


@dataclass(frozen=True, slots=True)
class Pointer:
    """What agents use now: the active revision of a skill and its digest."""

    skill: str
    revision: str
    digest: str
    moved_at: str


@dataclass(frozen=True, slots=True)
class Change:
    """Who changes a status, why and when: what an audit event is made of."""

    actor: str
    reason: str
    at: str


def insert_revision(
    connection: Connection,
    skill: str,
    content: Skill,
    parent: Skill,
    *,
    action: Action,
    source: str,
    status: Status,
    evidence: Mapping[str, Any],
    replaces: str | None,
    change: Change,
) -> Revision:
    """Insert a revision with both contents and its first audit event."""
    revision = Revision(
        _new_id(connection, skill, content.digest, parent.digest, source),
        skill,
        action,
        source,
        put_snapshot(connection, content),
        put_snapshot(connection, parent),
        replaces,
        status,
        change.at,
        change.at if status is Status.ACTIVE else None,
        evidence,
    )
    row = revision.to_json() | {"evidence": encode_json(evidence, f"the evidence for {skill}")}
    connection.execute(REVISIONS.insert().values(row))
    _audit(connection, revision, None, status, change)
    return revision


def find_same(connection: Connection, skill: str, source: str, digest: str, parent_digest: str) -> Revision | None:
    """The revision that this very source has already entered, if any."""
    return _one(
        connection,
        REVISIONS.c.skill == skill,
        REVISIONS.c.source == source,
        REVISIONS.c.digest == digest,
        REVISIONS.c.parent_digest == parent_digest,
    )


def get_revision(connection: Connection, id: str) -> Revision:
    """The revision with this id, or the only one whose id begins so. Raises StoreError for none and for several."""
    wanted = id.strip().lower()
    wanted = wanted if wanted.startswith(_PREFIX) else _PREFIX + wanted
    found: list[str] = []
    if re.fullmatch(rf"{_PREFIX}[0-9a-f]+", wanted):
        # "g" follows every hex digit: a range uses the index where LIKE would not.
        query = select(REVISIONS.c.id).where(REVISIONS.c.id >= wanted, REVISIONS.c.id < f"{wanted}g")
        found = list(connection.scalars(query.order_by(REVISIONS.c.id).limit(4)))
    if not found:
        raise StoreError(f"there is no revision {id!r} in the store; see skillevo revisions list.")
    if len(found) > 1 and found[0] != wanted:
        raise StoreError(f"{id!r} fits several revisions ({', '.join(found)}); give more digits.")
    revision = _one(connection, REVISIONS.c.id == found[0])
    assert revision is not None
    return revision


def list_revisions(connection: Connection, skill: str | None, status: Status | None) -> tuple[Revision, ...]:
    """Revisions, newest first, of one skill or of all, in one status or in any."""
    query = select(REVISIONS).order_by(REVISIONS.c.seq.desc())
    if skill is not None:
        query = query.where(REVISIONS.c.skill == skill)
    if status is not None:
        query = query.where(REVISIONS.c.status == status.value)
    return tuple(_revision(row) for row in connection.execute(query))


def history(connection: Connection, revision: str) -> tuple[AuditEvent, ...]:
    """What happened to one revision, oldest first."""
    query = select(AUDIT).where(AUDIT.c.revision == revision).order_by(AUDIT.c.seq)
    return tuple(
        AuditEvent(
            row.at,
            row.skill,
            row.revision,
            None if row.before is None else Status(row.before),
            Status(row.after),
            row.actor,
            row.reason,
        )
        for row in connection.execute(query)
    )


def set_status(connection: Connection, revision: Revision, target: Status, change: Change) -> None:
    """Move a revision to another status and audit it.

    Raises StoreError for an illegal step, and when someone else has moved the revision meanwhile.
    """
    check_transition(revision.id, revision.status, target)
    values: dict[str, Any] = {"status": target.value}
    if target is Status.ACTIVE:
        values["promoted_at"] = change.at
    unchanged = (REVISIONS.c.id == revision.id) & (REVISIONS.c.status == revision.status.value)
    if connection.execute(REVISIONS.update().where(unchanged).values(values)).rowcount != 1:
        raise StoreError(f"{revision.id} was changed by someone else meanwhile; look at it again.")
    _audit(connection, revision, revision.status, target, change)


def note(connection: Connection, revision: Revision, change: Change) -> None:
    """Audit something that left the status as it was."""
    _audit(connection, revision, revision.status, revision.status, change)


def set_parent(connection: Connection, revision: str, parent: str) -> None:
    """Record which revision this one replaces."""
    connection.execute(REVISIONS.update().where(REVISIONS.c.id == revision).values(parent=parent))


def get_pointer(connection: Connection, skill: str) -> Pointer | None:
    """The active pointer of a skill; None while nothing was ever published."""
    row = connection.execute(select(POINTERS).where(POINTERS.c.skill == skill)).first()
    return None if row is None else Pointer(row.skill, row.revision, row.digest, row.moved_at)


def move_pointer(connection: Connection, revision: Revision, at: str) -> None:
    """Make a revision the active one of its skill."""
    values = {"revision": revision.id, "digest": revision.digest, "moved_at": at}
    if not connection.execute(POINTERS.update().where(POINTERS.c.skill == revision.skill).values(values)).rowcount:
        connection.execute(POINTERS.insert().values(skill=revision.skill, **values))


def _new_id(connection: Connection, skill: str, digest: str, parent_digest: str, source: str) -> str:
    """An id that follows from the content, so that a resumed experiment gets the one it would have had."""
    attempt = 0
    while True:
        digits = digest_json([skill, digest, parent_digest, source, attempt])
        id = _PREFIX + digits[: _DIGITS + attempt // 4]
        if _one(connection, REVISIONS.c.id == id) is None:
            return id
        attempt += 1


def _audit(connection: Connection, revision: Revision, before: Status | None, after: Status, change: Change) -> None:
    connection.execute(
        AUDIT.insert().values(
            at=change.at,
            skill=revision.skill,
            revision=revision.id,
            before=None if before is None else before.value,
            after=after.value,
            actor=change.actor,
            reason=change.reason,
        )
    )


def _one(connection: Connection, *conditions: ColumnElement[bool]) -> Revision | None:
    row = connection.execute(select(REVISIONS).where(*conditions).order_by(REVISIONS.c.seq).limit(1)).first()
    return None if row is None else _revision(row)


def _revision(row: Row[Any]) -> Revision:
    return Revision(
        row.id,
        row.skill,
        Action(row.action),
        row.source,
        row.digest,
        row.parent_digest,
        row.parent,
        Status(row.status),
        row.created_at,
        row.promoted_at,
        decode_json(row.evidence),
    )
