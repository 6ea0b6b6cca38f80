"""The exposure ledger: which holdout cases a decision used or a person saw, and when (design: holdout integrity)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from sqlalchemy import func, select

from .blobs import chunks, insert_missing
from .committed import OpeningRecord
from .database import Database
from .experiments import Clock, stamp
from .schema import OPENINGS


@dataclass(frozen=True, slots=True)
class Opening:
    """One experiment (or viewing) that opened some of the cases asked about."""

    experiment: str
    #: The earliest time, ISO 8601 UTC.
    at: str
    #: How many of the cases asked about it opened.
    cases: int


@dataclass(frozen=True, slots=True)
class Openings:
    """All openings of a set of cases, earliest first."""

    openings: tuple[Opening, ...]

    @property
    def count(self) -> int:
        """How many experiments opened any of the cases."""
        return len(self.openings)

    @property
    def first(self) -> str | None:
        """When any of the cases was first opened; None if never."""
        return self.openings[0].at if self.openings else None


class Exposure:
    """The ledger. Nothing is ever taken out of it."""

    def __init__(self, database: Database, clock: Clock) -> None:
        self._database = database
        self._clock = clock

    def record(self, fingerprints: Sequence[str], experiment: str, skill: str, why: str) -> None:
        """Note an opening. The same one noted again, as a resumed experiment does, keeps its first time."""
        at = stamp(self._clock)
        rows = [
            {"fingerprint": case, "experiment": experiment, "skill": skill, "why": why, "at": at}
            for case in fingerprints
        ]
        with self._database.write(durable=True) as connection:
            insert_missing(connection, OPENINGS, rows)

    def records(self, skill: str | None = None) -> tuple[OpeningRecord, ...]:
        """Every opening, or those of one skill, earliest first."""
        conditions = [] if skill is None else [OPENINGS.c.skill == skill]
        columns = (OPENINGS.c.at, OPENINGS.c.skill, OPENINGS.c.experiment, OPENINGS.c.why, OPENINGS.c.fingerprint)
        with self._database.read() as connection:
            rows = connection.execute(select(*columns).where(*conditions)).all()
        return tuple(sorted(OpeningRecord(*row) for row in rows))

    def enter(self, records: Sequence[OpeningRecord]) -> None:
        """Take over openings that another store noted, with their times."""
        known = {one.key for one in self.records()} if records else set()
        rows = [asdict(one) for one in records if one.key not in known]
        if rows:
            with self._database.write(durable=True) as connection:
                for some in chunks(rows):
                    insert_missing(connection, OPENINGS, some)

    def openings(self, fingerprints: Sequence[str], *, besides: str | None = None) -> Openings:
        """Who opened any of these cases, leaving out the experiment `besides`."""
        first: dict[str, str] = {}
        cases: dict[str, int] = {}
        with self._database.read() as connection:
            for some in chunks(sorted(set(fingerprints))):
                query = (
                    select(
                        OPENINGS.c.experiment, func.min(OPENINGS.c.at), func.count(OPENINGS.c.fingerprint.distinct())
                    )
                    .where(OPENINGS.c.fingerprint.in_(some))
                    .group_by(OPENINGS.c.experiment)
                )
                for experiment, at, count in connection.execute(query):
                    first[experiment] = min(at, first.get(experiment, at))
                    cases[experiment] = cases.get(experiment, 0) + count
        found = [Opening(name, at, cases[name]) for name, at in first.items() if name != besides]
        return Openings(tuple(sorted(found, key=lambda opening: (opening.at, opening.experiment))))
