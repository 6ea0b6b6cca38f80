"""The audit trail: who did what to which revision, when and why. Rows are written with what they tell, never after."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, func, select

from ..core.revisions import AuditEvent, Deed, Revision, Status
from .schema import AUDIT


@dataclass(frozen=True, slots=True)
class Change:
    """Who changes something, why and when: what an audit event is made of."""

    actor: str
    reason: str
    at: str


def record(
    connection: Connection, revision: Revision, deed: Deed, before: Status | None, after: Status, change: Change
) -> None:
    """Write one event."""
    connection.execute(
        AUDIT.insert().values(
            at=change.at,
            skill=revision.skill,
            revision=revision.id,
            before=None if before is None else before.value,
            after=after.value,
            actor=change.actor,
            reason=change.reason,
            scope=revision.scope,
            deed=deed.value,
        )
    )


def note(connection: Connection, revision: Revision, deed: Deed, change: Change) -> None:
    """Write down something that left the status as it was."""
    record(connection, revision, deed, revision.status, revision.status, change)


def history(connection: Connection, revision: str) -> tuple[AuditEvent, ...]:
    """What happened to one revision, oldest first."""
    return _events(connection, AUDIT.c.revision == revision)


def trail(connection: Connection, scope: str, skill: str | None, limit: int | None) -> tuple[AuditEvent, ...]:
    """The last events of a partition, or of one skill in it, oldest first."""
    conditions = [AUDIT.c.scope == scope] + ([] if skill is None else [AUDIT.c.skill == skill])
    query = select(AUDIT).where(*conditions).order_by(AUDIT.c.seq.desc()).limit(limit)
    return tuple(_event(row) for row in reversed(connection.execute(query).all()))


def counts(connection: Connection, scope: str) -> dict[Deed, int]:
    """How often each thing was done in a partition; what never happened is missing."""
    query = select(AUDIT.c.deed, func.count()).where(AUDIT.c.scope == scope).group_by(AUDIT.c.deed)
    return {Deed(deed): count for deed, count in connection.execute(query)}


def waiting_since(connection: Connection, revision: Revision) -> str:
    """When the revision came into the status that it has."""
    moved = (AUDIT.c.revision == revision.id) & (AUDIT.c.before.is_(None) | (AUDIT.c.before != AUDIT.c.after))
    at: str | None = connection.scalar(select(AUDIT.c.at).where(moved).order_by(AUDIT.c.seq.desc()).limit(1))
    return at or revision.created_at


def _events(connection: Connection, *conditions: ColumnElement[bool]) -> tuple[AuditEvent, ...]:
    return tuple(_event(row) for row in connection.execute(select(AUDIT).where(*conditions).order_by(AUDIT.c.seq)))


def _event(row: Row[Any]) -> AuditEvent:
    return AuditEvent(
        row.at,
        Deed(row.deed),
        row.skill,
        row.revision,
        None if row.before is None else Status(row.before),
        Status(row.after),
        row.actor,
        row.reason,
    )
