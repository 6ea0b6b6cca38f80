"""Experiments: what was asked, and the verdict once there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Row, select

from ..core.errors import StoreError
from .columns import decode_json, encode_json
from .database import Conflict, Database
from .schema import EXPERIMENTS

Clock: TypeAlias = Callable[[], datetime]


def utc_now() -> datetime:
    """The time now, with its zone."""
    return datetime.now(UTC)


def stamp(clock: Clock) -> str:
    """The clock's time as ISO 8601 in UTC with microseconds; later times sort later as text."""
    return clock().astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Experiment:
    """One experiment. `verdict` and `report` are None until it is finished."""

    id: str
    skill: str
    #: Digest of everything that decides the result; equal for a repetition.
    fingerprint: str
    settings: Mapping[str, Any]
    created_at: str
    finished_at: str | None
    verdict: Any
    report: Any


class Experiments:
    """All experiments of a store."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def create(self, id: str, skill: str, fingerprint: str, settings: Mapping[str, Any]) -> None:
        """Record a new experiment. Raises StoreError for an id that is taken."""
        row = {
            "id": id,
            "skill": skill,
            "fingerprint": fingerprint,
            "settings": encode_json(settings, f"the settings of experiment {id}"),
            "created_at": stamp(self._clock),
        }
        try:
            with self._database.write() as connection:
                connection.execute(EXPERIMENTS.insert().values(row))
        except Conflict:
            raise StoreError(f"there already is an experiment {id}; resume it or choose another id") from None

    def get(self, id: str) -> Experiment:
        """The experiment with this id. Raises StoreError when there is none."""
        found = self._first(EXPERIMENTS.c.id == id)
        if found is None:
            raise StoreError(f"there is no experiment {id!r} in the store")
        return found

    def list(self, skill: str | None = None) -> tuple[Experiment, ...]:
        """All experiments, or those of one skill, the newest first."""
        conditions = [] if skill is None else [EXPERIMENTS.c.skill == skill]
        with self._database.read() as connection:
            rows = connection.execute(select(EXPERIMENTS).where(*conditions).order_by(EXPERIMENTS.c.seq.desc())).all()
        return tuple(_experiment(row) for row in rows)

    def find_finished(self, fingerprint: str) -> Experiment | None:
        """The first finished experiment with this fingerprint: its verdict is the one that counts."""
        return self._first(EXPERIMENTS.c.fingerprint == fingerprint, EXPERIMENTS.c.finished_at.is_not(None))

    def finish(self, id: str, verdict: Any, report: Any) -> None:
        """Record the end of an experiment, once. Raises StoreError when it is unknown or already finished."""
        values = {
            "verdict": encode_json(verdict, f"the verdict of experiment {id}"),
            "report": encode_json(report, f"the report of experiment {id}"),
            "finished_at": stamp(self._clock),
        }
        unfinished = (EXPERIMENTS.c.id == id) & EXPERIMENTS.c.finished_at.is_(None)
        with self._database.write(durable=True) as connection:
            done = connection.execute(EXPERIMENTS.update().where(unfinished).values(values)).rowcount
        if not done:
            raise StoreError(f"experiment {self.get(id).id} is already finished; its verdict stays as it is")

    def _first(self, *conditions: ColumnElement[bool]) -> Experiment | None:
        with self._database.read() as connection:
            row = connection.execute(
                select(EXPERIMENTS).where(*conditions).order_by(EXPERIMENTS.c.seq).limit(1)
            ).first()
        return None if row is None else _experiment(row)


def _experiment(row: Row[Any]) -> Experiment:
    return Experiment(
        row.id,
        row.skill,
        row.fingerprint,
        decode_json(row.settings),
        row.created_at,
        row.finished_at,
        None if row.verdict is None else decode_json(row.verdict),
        None if row.report is None else decode_json(row.report),
    )
