"""What time does to revisions that wait, if it was told to: promote them, or give them up (spec 16).

Silence approves nothing by default. Deletions and what came from outside always wait for a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from ..core.errors import StoreError
from ..core.revisions import EXPIRABLE, Action, Revision, Status
from .store import Store

#: Who is named in the audit trail.
ACTOR: Final = "timer"
#: Origins whose revisions may be promoted by time: what was made and measured here.
_OWN: Final = frozenset({"experiment", "reviewer"})
_LEAST, _MOST = timedelta(seconds=1), timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class Timers:
    """How long a revision waits. None switches a timer off; without any, `sweep` does nothing."""

    promote_after: timedelta | None = None
    expire_after: timedelta | None = None

    @property
    def interval(self) -> timedelta:
        """How often to sweep: a quarter of the shortest timer, from a second to an hour."""
        timers = [timer for timer in (self.promote_after, self.expire_after) if timer]
        return min(max(min(timers) / 4, _LEAST), _MOST) if timers else _MOST


@dataclass(frozen=True, slots=True)
class Swept:
    """What became of one revision. `outcome` is promoted, expired, or why it was left."""

    revision: str
    skill: str
    partition: str
    outcome: str

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {
            "revision": self.revision,
            "skill": self.skill,
            "partition": self.partition,
            "outcome": self.outcome,
        }


def sweep(store: Store, timers: Timers, now: datetime) -> tuple[Swept, ...]:
    """Do in every partition what is due; one revision that cannot be moved keeps no other waiting.

    At most one revision of a skill is promoted, the oldest that still fits; its rivals are stale then.
    """
    swept: list[Swept] = []
    for partition in store.partitions():
        view = store.at(partition)
        if timers.promote_after:
            swept += _promote(view, timers.promote_after, now)
        if timers.expire_after:
            swept += _expire(view, timers.expire_after, now)
    return tuple(swept)


def _promote(store: Store, wait: timedelta, now: datetime) -> list[Swept]:
    swept: list[Swept] = []
    moved: set[str] = set()
    for revision in reversed(store.revisions(status=Status.PENDING_APPROVAL)):
        mine = revision.origin in _OWN and revision.action is not Action.DELETE
        if not mine or revision.skill in moved or not _is_due(store, revision, wait, now):
            continue
        try:
            if not store.is_fresh(revision):
                swept.append(_left(store, revision, "stale: the skill has changed since it was judged"))
                continue
            store.approve(revision.id, ACTOR, f"nobody objected for {_words(wait)}")
        except StoreError as error:
            swept.append(_left(store, revision, str(error)))
            continue
        moved.add(revision.skill)
        swept.append(_left(store, revision, "promoted"))
    return swept


def _expire(store: Store, wait: timedelta, now: datetime) -> list[Swept]:
    swept: list[Swept] = []
    for status in EXPIRABLE:
        for revision in reversed(store.revisions(status=status)):
            if not _is_due(store, revision, wait, now):
                continue
            try:
                store.expire(revision.id, ACTOR, f"nobody decided for {_words(wait)}")
            except StoreError as error:
                swept.append(_left(store, revision, str(error)))
            else:
                swept.append(_left(store, revision, "expired"))
    return swept


def _is_due(store: Store, revision: Revision, wait: timedelta, now: datetime) -> bool:
    return datetime.fromisoformat(store.waiting_since(revision)) < now - wait


def _left(store: Store, revision: Revision, outcome: str) -> Swept:
    return Swept(revision.id, revision.skill, store.partition, outcome)


def _words(wait: timedelta) -> str:
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        count = wait.total_seconds() / size
        if count >= 1 and count == int(count):
            return f"{int(count)} {unit}{'' if count == 1 else 's'}"
    return str(wait)
