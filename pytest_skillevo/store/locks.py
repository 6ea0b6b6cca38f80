"""Locks between processes that the database takes back when their holder dies.

Each is a lock of an open connection: nothing is left to clean up, and a dead process blocks nobody. Connections must
not go through a pooler that gives each transaction another session. Locks on files are in core/locks.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..core.canonical import digest
from ..core.locks import LockBusy

if TYPE_CHECKING:
    from sqlalchemy import Connection


def lock_number(key: str) -> int:
    """The number that stands for a lock's name in PostgreSQL: 64 bits, signed."""
    return int.from_bytes(bytes.fromhex(digest(key)[:16]), signed=True)


@contextmanager
def advisory_lock(connection: Connection, key: str, wait: float, busy: str) -> Iterator[None]:
    """Take a lock of PostgreSQL, which the connection keeps until it is closed. It must commit by itself.

    Raises LockBusy, with the sentence `busy`, when its holder does not let go within `wait` seconds.
    """
    from sqlalchemy import text
    from sqlalchemy.exc import OperationalError

    # The server must notice soon when this machine dies without a word.
    for setting in ("tcp_keepalives_idle = 30", "tcp_keepalives_interval = 10", "tcp_keepalives_count = 3"):
        connection.execute(text(f"SET {setting}"))
    number = {"number": lock_number(key)}
    held = bool(connection.scalar(text("SELECT pg_try_advisory_lock(:number)"), number))
    if not held and wait > 0:
        connection.execute(text(f"SET lock_timeout = {round(wait * 1000)}"))
        try:
            connection.execute(text("SELECT pg_advisory_lock(:number)"), number)
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != "55P03":
                raise
        else:
            held = True
    if not held:
        raise LockBusy(busy or "another process is changing the same skill; try again when it has finished.")
    yield
