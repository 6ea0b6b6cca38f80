"""One database, opened safely: transactions, durability, and errors that say what to do.

SQLite in WAL mode with synchronous NORMAL: a commit survives the death of the process, and readers never wait for a
writer. Loss of power may cost the last commits, never consistency; `write(durable=True)` waits for the disk as well.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.exc import DBAPIError, IntegrityError

from ..core.errors import StoreError
from .locks import file_lock
from .schema import prepare

#: Milliseconds that a writer waits for another one.
BUSY_TIMEOUT: Final = 30_000

_ADVICE: Final = (
    (("not a database", "malformed", "encrypted"), "It is damaged or no store. Move it away to begin a new one."),
    (("locked", "busy"), "Another process kept it busy; try again when that has finished."),
    (("readonly", "unable to open", "attempt to write"), "Check that its folder exists and may be written."),
    (("full",), "Free some disk space; what was stored before is intact."),
)


class Conflict(StoreError):
    """The database refuses a row: its key is taken, or what it refers to is not there."""


class Database:
    """The store's database. Use `open`, then `read()` and `write()` for transactions, `close()` at the end."""

    def __init__(self, engine: Engine, name: str) -> None:
        self._engine = engine
        self._writer = engine.execution_options(skillevo_begin="write")
        self._durable = engine.execution_options(skillevo_begin="durable")
        self._name = name

    @classmethod
    def open(cls, file: Path) -> Database:
        """Open a SQLite file, making or upgrading its tables. Raises StoreError when that cannot be done."""
        engine = create_engine(URL.create("sqlite", database=str(file)))
        _configure_sqlite(engine)
        database = cls(engine, str(file))
        # Two processes that open a new store at once: switching to WAL does not wait for the other as a query would.
        with file_lock(file.with_name(f"{file.name}.lock")):
            try:
                with database._translated():
                    database._prepare()
            except BaseException:
                database.close()
                raise
        return database

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database and writes nothing."""
        with self._translated(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def write(self, *, durable: bool = False) -> Iterator[Connection]:
        """A transaction that is alone in writing from its first statement; committed at the end, undone on an error.

        Raises Conflict for a row that contradicts others, and StoreError for what else the database refuses.
        """
        with self._translated(), (self._durable if durable else self._writer).begin() as connection:
            yield connection

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    def _prepare(self) -> None:
        with self._engine.connect() as connection:
            cursor = connection.connection.cursor()
            cursor.execute("PRAGMA journal_mode=WAL")
            cursor.close()
        with self._durable.begin() as connection:
            prepare(connection, self._name)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError as error:
            raise Conflict(f"{self._name}: {error.orig}") from error
        except DBAPIError as error:
            raise StoreError(self._sentence(str(error.orig))) from error
        except sqlite3.Error as error:
            raise StoreError(self._sentence(str(error))) from error

    def _sentence(self, problem: str) -> str:
        advice = next((text for marks, text in _ADVICE if any(mark in problem for mark in marks)), "")
        return f"{self._name} cannot be used: {problem}. {advice}".rstrip()


def _configure_sqlite(engine: Engine) -> None:
    """Make SQLAlchemy's transactions those of SQLite: the driver would begin them late and never for reads."""

    @event.listens_for(engine, "connect")
    def _connected(connection: Any, record: Any) -> None:
        connection.isolation_level = None
        connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT}")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        kind = connection.get_execution_options().get("skillevo_begin", "read")
        connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if kind == 'durable' else 'NORMAL'}")
        # A writer asks for the lock at once: turning a reader into a writer fails when another has written meanwhile.
        connection.exec_driver_sql("BEGIN" if kind == "read" else "BEGIN IMMEDIATE")
