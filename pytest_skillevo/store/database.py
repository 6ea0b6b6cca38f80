"""One database, opened safely: transactions, durability, locks, and errors that say what to do.

SQLite in WAL mode with synchronous NORMAL: a commit survives the death of the process, and readers never wait for a
writer. Loss of power may cost the last commits, never consistency; `write(durable=True)` waits for the disk as well.
PostgreSQL, for teams that share one store: every commit is durable, and an advisory lock makes writers take turns, so
that a transaction means the same in both.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, Table, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.pool import NullPool

from ..core.canonical import digest
from ..core.errors import ConfigError, StoreError
from ..core.locks import WAIT, file_lock
from .locks import advisory_lock, lock_number
from .schema import META, prepare

#: Milliseconds that a writer waits for another one.
BUSY_TIMEOUT: Final = 30_000

_WRITER: Final = lock_number("the one writer of a skillevo store")
_POSTGRES: Final = frozenset({"postgres", "postgresql", "postgresql+psycopg"})

_ADVICE: Final = (
    (
        ("not a database", "malformed", "encrypted", "Could not decode"),
        "It is damaged or no store. Move it away to begin a new one.",
    ),
    (("locked", "busy", "lock timeout"), "Another process kept it busy; try again when that has finished."),
    (("readonly", "unable to open", "attempt to write"), "Check that its folder exists and may be written."),
    (("full", "disk I/O error"), "Free some disk space; what was stored before is intact."),
    (("connection", "host name", "authentication"), "Check the address, the password, and that the server runs."),
    (("permission denied",), "The role must be allowed to create and use tables in its schema."),
)


class Conflict(StoreError):
    """The database refuses a row: its key is taken, or what it refers to is not there."""


class Database:
    """The store's database. Use `open` or `connect`, then `read()` and `write()` for transactions, `close()` last."""

    def __init__(self, engine: Engine, name: str, home: Path) -> None:
        self._engine = engine
        self._name = name
        self._home = home
        #: Whether other machines may use it too.
        self.shared = engine.dialect.name == "postgresql"
        level = {"isolation_level": "REPEATABLE READ"} if self.shared else {}
        # Locks have connections of their own, closed at the end, so that nothing leaves one behind in a pool.
        self._locker = create_engine(engine.url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        self._reader = engine.execution_options(skillevo_begin="read", **level)
        self._writer = engine.execution_options(skillevo_begin="write")
        self._durable = engine.execution_options(skillevo_begin="durable")

    @classmethod
    def open(cls, file: Path) -> Database:
        """Open a SQLite file, making or upgrading its tables. Raises StoreError when that cannot be done."""
        engine = create_engine(URL.create("sqlite", database=str(file)))
        _configure_sqlite(engine)
        database = cls(engine, str(file), file.parent)
        # Two processes that open a new store at once: switching to WAL does not wait for the other as a query would.
        with file_lock(file.with_name(f"{file.name}.lock")):
            database._set_up(_switch_to_wal)
        return database

    @classmethod
    def connect(cls, url: str, home: Path) -> Database:
        """Open a PostgreSQL database, making or upgrading its tables. Raises ConfigError for what is no such URL."""
        engine, name = _postgres_engine(url)
        _configure_postgres(engine)
        database = cls(engine, name, home)
        database._set_up()
        return database

    @staticmethod
    def holds_store(url: str) -> bool:
        """Whether a PostgreSQL database has the store's tables already. Raises StoreError when it cannot be asked."""
        engine, name = _postgres_engine(url)
        database = Database(engine, name, Path())
        try:
            with database._translated(), engine.connect() as connection:
                return inspect(connection).has_table(META.name)
        finally:
            database.close()

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A transaction that sees one state of the database and writes nothing."""
        with self._translated(), self._reader.begin() as connection:
            yield connection

    @contextmanager
    def write(self, *, durable: bool = False) -> Iterator[Connection]:
        """A transaction that is alone in writing from its first statement; committed at the end, undone on an error.

        Raises Conflict for a row that contradicts others, and StoreError for what else the database refuses.
        """
        with self._translated(), (self._durable if durable else self._writer).begin() as connection:
            yield connection

    def lock(self, key: str, *, wait: float = WAIT, busy: str = "") -> AbstractContextManager[None]:
        """Hold a named lock against everyone who uses this database; it ends with its holder, also with a dead one.

        Raises LockBusy, with the sentence `busy`, when nobody lets go of it within `wait` seconds.
        """
        if self.shared:
            return self._advisory_lock(key, wait, busy)
        folder = self._home / "locks"
        folder.mkdir(exist_ok=True)
        return file_lock(folder / f"{digest(key)[:16]}.lock", wait=wait, busy=busy)

    def positional_insert(self, table: Table, columns: Sequence[str]) -> str:
        """An insert for `exec_driver_sql` with the values in this order, texts escaped by the caller (escape_text)."""
        dialect = self._engine.dialect
        mark = "?" if dialect.paramstyle == "qmark" else "%s"
        names = ", ".join(map(dialect.identifier_preparer.quote, columns))
        return f"INSERT INTO {table.name} ({names}) VALUES ({', '.join([mark] * len(columns))})"

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()

    @contextmanager
    def _advisory_lock(self, key: str, wait: float, busy: str) -> Iterator[None]:
        with self._translated(), self._locker.connect() as connection, advisory_lock(connection, key, wait, busy):
            yield

    def _set_up(self, first: Any = None) -> None:
        try:
            with self._translated():
                if first is not None:
                    first(self._engine)
                with self._durable.begin() as connection:
                    prepare(connection, self._name)
        except BaseException:
            self.close()
            raise

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
        except UnicodeDecodeError as error:  # from the driver: flipped bits in a text
            raise StoreError(self._sentence(f"malformed text ({error})")) from error

    def _sentence(self, problem: str) -> str:
        plain = " ".join(problem.split())
        advice = next((words for marks, words in _ADVICE if any(mark in plain for mark in marks)), "")
        return f"{self._name} cannot be used: {plain}. {advice}".rstrip()


def _switch_to_wal(engine: Engine) -> None:
    with engine.connect() as connection:
        cursor = connection.connection.cursor()
        cursor.execute("PRAGMA journal_mode=WAL")
        cursor.close()


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
        # Straight to the driver: a transaction has one statement as a rule, and these two would cost more than it does.
        driver: Any = connection.connection.driver_connection
        driver.execute(f"PRAGMA synchronous={'FULL' if kind == 'durable' else 'NORMAL'}")
        # A writer asks for the lock at once: turning a reader into a writer fails when another has written meanwhile.
        driver.execute("BEGIN" if kind == "read" else "BEGIN IMMEDIATE")


def _configure_postgres(engine: Engine) -> None:
    """Let writers take turns from their first statement on, as they do in SQLite."""

    @event.listens_for(engine, "begin")
    def _begun(connection: Connection) -> None:
        if connection.get_execution_options().get("skillevo_begin", "read") != "read":
            connection.execute(text(f"SET LOCAL lock_timeout = {BUSY_TIMEOUT}"))
            connection.execute(text("SELECT pg_advisory_xact_lock(:number)"), {"number": _WRITER})


def _postgres_engine(url: str) -> tuple[Engine, str]:
    """An engine, and the database's name for messages, without a password."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        raise ConfigError("the address of the store is no URL; write postgresql://USER@HOST/DATABASE") from None
    if parsed.drivername not in _POSTGRES:
        raise ConfigError(
            f"a store cannot be kept in {parsed.drivername!r}; write postgresql://USER@HOST/DATABASE, "
            "or leave the address out for a SQLite file in skillevo_home"
        )
    name = parsed.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
    try:
        return create_engine(parsed.set(drivername="postgresql+psycopg"), pool_pre_ping=True), name
    except ModuleNotFoundError:
        raise ConfigError("a store in PostgreSQL needs psycopg: pip install 'pytest-skillevo[postgres]'") from None
