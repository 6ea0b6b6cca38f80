"""The append-only journal of an experiment: every answer, committed before it is told (design: decision 2)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from sqlalchemy import Connection, select

from ..core.errors import StoreError
from .blobs import chunks
from .columns import decode_json, encode_json, escape_text
from .database import Conflict, Database
from .entry import JournalEntry
from .rollouts import Traces
from .schema import EXPERIMENTS, JOURNAL

#: Entries read in one transaction, so that a long reading does not hold up the clean-up of the write-ahead log.
_PAGE: Final = 1_000


class Journal:
    """Entries of all experiments, each in the order of its appends."""

    def __init__(self, database: Database, traces: Traces) -> None:
        self._database = database
        self._traces = traces
        self._insert = database.positional_insert(JOURNAL, ("experiment", "key", "kind", "payload"))

    def append(self, experiment: str, entries: Sequence[JournalEntry]) -> None:
        """Commit all entries, and the traces put before them, or none.

        Raises StoreError for a key that is already there, an unknown experiment, and payloads that are not JSON.
        """
        about = escape_text(experiment)
        rows = [
            (
                about,
                escape_text(entry.key),
                escape_text(entry.kind),
                encode_json(entry.payload, f"the journal entry {entry.key!r}"),
            )
            for entry in entries
        ]
        try:
            with self._database.write() as connection:
                traces = self._traces.write(connection)
                if rows:
                    # Every answer passes here alone: compiling the statement would cost more than running it.
                    connection.exec_driver_sql(self._insert, rows)
        except Conflict:
            raise StoreError(self._why(experiment, [entry.key for entry in entries])) from None
        self._traces.written(traces)

    def entries(self, experiment: str) -> Iterator[JournalEntry]:
        """The entries in the order of their appends, read page by page."""
        query = (
            select(JOURNAL.c.seq, JOURNAL.c.key, JOURNAL.c.kind, JOURNAL.c.payload)
            .where(JOURNAL.c.experiment == experiment)
            .order_by(JOURNAL.c.seq)
            .limit(_PAGE)
        )
        last = 0
        while True:
            with self._database.read() as connection:
                page = connection.execute(query.where(JOURNAL.c.seq > last)).all()
            for seq, key, kind, payload in page:
                last = seq
                yield JournalEntry(key, kind, decode_json(payload))
            if len(page) < _PAGE:
                return

    def _why(self, experiment: str, keys: Sequence[str]) -> str:
        with self._database.read() as connection:
            if connection.scalar(select(EXPERIMENTS.c.seq).where(EXPERIMENTS.c.id == experiment)) is None:
                return f"there is no experiment {experiment!r} in the store"
            known = _known(connection, experiment, keys)
        twice = next(key for index, key in enumerate(keys) if key in known or key in keys[:index])
        return (
            f"the journal of experiment {experiment} already has {twice!r}; nothing was written. "
            "Is another process running the same experiment?"
        )


def _known(connection: Connection, experiment: str, keys: Sequence[str]) -> set[str]:
    known: set[str] = set()
    for some in chunks(keys):
        query = select(JOURNAL.c.key).where(JOURNAL.c.experiment == experiment, JOURNAL.c.key.in_(some))
        known.update(connection.scalars(query))
    return known
