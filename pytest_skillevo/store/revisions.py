"""Revisions and active pointers in the database. No file is touched here; see promotion.py."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Row, func, select

from ..core.canonical import digest_json
from ..core.errors import StoreError
from ..core.revisions import Action, Deed, Revision, Status, check_transition
from ..core.skill import Skill
from .audit import Change, record
from .columns import decode_json, encode_json
from .schema import EVALUATIONS, POINTERS, REVISIONS
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
class Proposal:
    """A version that somebody wants to become the active one of the skill in folder `skill`."""

    skill: str
    content: Skill
    #: What it was judged against; Skill.absent for a new skill.
    parent: Skill
    action: Action
    #: Where it comes from: "experiment:<id>", "reviewer", "submission" or "import".
    source: str
    #: JSON.
    evidence: Mapping[str, Any]
    #: The skill's name as it was given.
    name: str | None = None
    #: Paths of files that may be executed; None where nobody knows.
    executable: tuple[str, ...] | None = None


def insert_revision(
    connection: Connection,
    scope: str,
    proposal: Proposal,
    status: Status,
    deed: Deed,
    change: Change,
    *,
    replaces: str | None,
    gates: Mapping[str, Any] | None = None,
    bypassed: Sequence[str] = (),
) -> Revision:
    """Insert a revision with both contents and its first audit event."""
    digests = proposal.content.digest, proposal.parent.digest
    revision = Revision(
        _new_id(connection, [proposal.skill, *digests, proposal.source], scope),
        proposal.skill,
        proposal.action,
        proposal.source,
        put_snapshot(connection, proposal.content),
        put_snapshot(connection, proposal.parent),
        replaces,
        status,
        change.at,
        change.at if status is Status.ACTIVE else None,
        proposal.evidence,
        scope,
        proposal.name,
        proposal.executable,
        gates,
        tuple(bypassed),
    )
    connection.execute(REVISIONS.insert().values(_values(revision)))
    record(connection, revision, deed, None, status, change)
    return revision


def find_same(connection: Connection, scope: str, proposal: Proposal) -> Revision | None:
    """The revision that this very source has already entered, if any."""
    return _one(
        connection,
        REVISIONS.c.scope == scope,
        REVISIONS.c.skill == proposal.skill,
        REVISIONS.c.source == proposal.source,
        REVISIONS.c.digest == proposal.content.digest,
        REVISIONS.c.parent_digest == proposal.parent.digest,
    )


def find_content(connection: Connection, scope: str, skill: str, digest: str, status: Status) -> Revision | None:
    """A revision of the skill with that content in that status, if any."""
    return _one(
        connection,
        REVISIONS.c.scope == scope,
        REVISIONS.c.skill == skill,
        REVISIONS.c.digest == digest,
        REVISIONS.c.status == status.value,
    )


def get_revision(connection: Connection, scope: str, id: str) -> Revision:
    """The partition's revision with this id, or the only one whose id begins so.

    Raises StoreError for none and for several. Revisions of other partitions are not seen.
    """
    wanted = id.strip().lower()
    wanted = wanted if wanted.startswith(_PREFIX) else _PREFIX + wanted
    found: list[str] = []
    if re.fullmatch(rf"{_PREFIX}[0-9a-f]+", wanted):
        # "g" follows every hex digit: a range uses the index where LIKE would not.
        query = select(REVISIONS.c.id).where(REVISIONS.c.id >= wanted, REVISIONS.c.id < f"{wanted}g")
        # Most revisions may be of one partition: an expression keeps SQLite from searching by that instead of the id.
        mine = query.where(REVISIONS.c.scope.concat("") == scope)
        found = list(connection.scalars(mine.order_by(REVISIONS.c.id).limit(4)))
    if not found:
        raise StoreError(f"there is no revision {id!r} in the store; see skillevo revisions list.")
    if len(found) > 1 and found[0] != wanted:
        raise StoreError(f"{id!r} fits several revisions ({', '.join(found)}); give more digits.")
    revision = _one(connection, REVISIONS.c.id == found[0])
    assert revision is not None
    return revision


def list_revisions(
    connection: Connection, scope: str, skill: str | None, status: Status | None, limit: int | None = None
) -> tuple[Revision, ...]:
    """Revisions of a partition, newest first, of one skill or of all, in one status or in any."""
    query = select(REVISIONS).where(*_filter(scope, skill, status)).order_by(REVISIONS.c.seq.desc()).limit(limit)
    return tuple(_revision(row) for row in connection.execute(query))


def count_revisions(connection: Connection, scope: str, skill: str | None, status: Status | None) -> int:
    """How many there are."""
    return connection.scalar(select(func.count()).select_from(REVISIONS).where(*_filter(scope, skill, status))) or 0


def list_scopes(connection: Connection) -> tuple[str, ...]:
    """The keys of all partitions that hold a revision."""
    return tuple(connection.scalars(select(REVISIONS.c.scope).distinct().order_by(REVISIONS.c.scope)))


def names_of(connection: Connection, scopes: Sequence[str], folder: str) -> set[str]:
    """The names under which a folder is, was or may become a skill in these partitions."""
    gone = (Status.REJECTED.value, Status.EXPIRED.value)
    query = select(REVISIONS.c.name).where(
        REVISIONS.c.scope.in_(scopes), REVISIONS.c.skill == folder, REVISIONS.c.status.not_in(gone)
    )
    return {name for name in connection.scalars(query.distinct()) if name is not None}


def set_status(connection: Connection, revision: Revision, target: Status, deed: Deed, change: Change) -> None:
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
    record(connection, revision, deed, revision.status, target, change)


def set_parent(connection: Connection, revision: str, parent: str) -> None:
    """Record which revision this one replaces."""
    connection.execute(REVISIONS.update().where(REVISIONS.c.id == revision).values(parent=parent))


def set_judgement(
    connection: Connection,
    revision: Revision,
    evidence: Mapping[str, Any],
    gates: Mapping[str, Any] | None,
    bypassed: Sequence[str],
    at: str,
) -> None:
    """Replace evidence and gate report of a revision; what was there before is kept among its evaluations."""
    row = _values(revision)
    old = {"revision": revision.id, "until": at, "evidence": row["evidence"], "gates": row["gates"]}
    connection.execute(EVALUATIONS.insert().values(old))
    values = {
        "evidence": encode_json(evidence, f"the evidence for {revision.id}"),
        "gates": _json(gates, revision.id),
        "bypassed": _json(list(bypassed) or None, revision.id),
    }
    connection.execute(REVISIONS.update().where(REVISIONS.c.id == revision.id).values(values))


def evaluations(connection: Connection, revision: str) -> tuple[dict[str, Any], ...]:
    """Earlier evidence and gate reports of a revision, oldest first, each with the time until which it held."""
    query = select(EVALUATIONS).where(EVALUATIONS.c.revision == revision).order_by(EVALUATIONS.c.seq)
    return tuple(
        {
            "until": row.until,
            "evidence": decode_json(row.evidence),
            "gates": None if row.gates is None else decode_json(row.gates),
        }
        for row in connection.execute(query)
    )


def get_pointer(connection: Connection, scope: str, skill: str) -> Pointer | None:
    """The active pointer of a skill; None while nothing was ever published."""
    row = connection.execute(select(POINTERS).where(POINTERS.c.scope == scope, POINTERS.c.skill == skill)).first()
    return None if row is None else _pointer(row)


def list_pointers(connection: Connection, scope: str) -> tuple[Pointer, ...]:
    """The active pointers of a partition, by skill."""
    query = select(POINTERS).where(POINTERS.c.scope == scope).order_by(POINTERS.c.skill)
    return tuple(_pointer(row) for row in connection.execute(query))


def move_pointer(connection: Connection, revision: Revision, at: str) -> None:
    """Make a revision the active one of its skill."""
    values = {"revision": revision.id, "digest": revision.digest, "moved_at": at}
    mine = (POINTERS.c.scope == revision.scope) & (POINTERS.c.skill == revision.skill)
    if not connection.execute(POINTERS.update().where(mine).values(values)).rowcount:
        connection.execute(POINTERS.insert().values(scope=revision.scope, skill=revision.skill, **values))


def _filter(scope: str, skill: str | None, status: Status | None) -> list[ColumnElement[bool]]:
    conditions = [REVISIONS.c.scope == scope]
    if skill is not None:
        conditions.append(REVISIONS.c.skill == skill)
    if status is not None:
        conditions.append(REVISIONS.c.status == status.value)
    return conditions


def _new_id(connection: Connection, parts: list[str], scope: str) -> str:
    """An id that follows from the content, so that a resumed experiment gets the one it would have had."""
    attempt = 0
    while True:
        digits = digest_json([*parts, attempt, scope] if scope else [*parts, attempt])
        id = _PREFIX + digits[: _DIGITS + attempt // 4]
        if _one(connection, REVISIONS.c.id == id) is None:
            return id
        attempt += 1


def _one(connection: Connection, *conditions: ColumnElement[bool]) -> Revision | None:
    row = connection.execute(select(REVISIONS).where(*conditions).order_by(REVISIONS.c.seq).limit(1)).first()
    return None if row is None else _revision(row)


def _json(value: Any, what: str) -> str | None:
    return None if value is None else encode_json(value, f"the record of {what}")


def _values(revision: Revision) -> dict[str, Any]:
    """The row of a revision."""
    return revision.to_json() | {
        "evidence": encode_json(revision.evidence, f"the evidence for {revision.skill}"),
        "executable": _json(None if revision.executable is None else list(revision.executable), revision.id),
        "gates": _json(revision.gates, revision.id),
        "bypassed": _json(list(revision.bypassed) or None, revision.id),
    }


def _revision(row: Row[Any]) -> Revision:
    try:
        return _read(row)
    except (ValueError, TypeError) as error:
        raise StoreError(f"the record of {row.id} ({row.skill}) is damaged: {error}") from None


def _read(row: Row[Any]) -> Revision:
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
        row.scope,
        row.name,
        None if row.executable is None else tuple(decode_json(row.executable)),
        None if row.gates is None else decode_json(row.gates),
        () if row.bypassed is None else tuple(decode_json(row.bypassed)),
    )


def _pointer(row: Row[Any]) -> Pointer:
    return Pointer(row.skill, row.revision, row.digest, row.moved_at)
