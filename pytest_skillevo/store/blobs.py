"""Bytes kept once each, under the digest of their content, compressed."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

from sqlalchemy import Connection, Table, select
from sqlalchemy.dialects import postgresql, sqlite

from ..core.canonical import digest
from ..core.errors import StoreError
from .schema import BLOBS

T = TypeVar("T")

#: Values in one IN (...) list; SQLite's limit lies far above.
_CHUNK: Final = 500


def chunks(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """The values in pieces that fit one query."""
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]


def insert_missing(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert the rows whose keys are not there yet, without an error for the others."""
    if rows:
        dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
        connection.execute(dialect.insert(table).on_conflict_do_nothing(), list(rows))


def put_blobs(connection: Connection, contents: Iterable[bytes]) -> None:
    """Keep these contents; those already there cost nothing but the question."""
    wanted = {digest(content): content for content in contents}
    known: set[str] = set()
    for some in chunks(list(wanted)):
        known.update(connection.scalars(select(BLOBS.c.digest).where(BLOBS.c.digest.in_(some))))
    rows = [
        {"digest": key, "size": len(content), "packed": zlib.compress(content)}
        for key, content in wanted.items()
        if key not in known
    ]
    insert_missing(connection, BLOBS, rows)


def get_blob(connection: Connection, key: str) -> bytes:
    """The content with this digest. Raises StoreError when it is not there or is not what was stored."""
    packed = connection.scalar(select(BLOBS.c.packed).where(BLOBS.c.digest == key))
    if packed is None:
        raise StoreError(f"the store has no content {key}")
    try:
        content = zlib.decompress(packed)
    except (zlib.error, TypeError) as error:
        raise StoreError(f"content {key} is damaged: {error}") from None
    if digest(content) != key:
        raise StoreError(f"content {key} is damaged: it has another digest now")
    return content
