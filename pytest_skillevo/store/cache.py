"""Answers by the digest of everything that decided them: what was asked before is not asked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select

from .blobs import chunks, insert_missing
from .columns import decode_json, encode_json
from .database import Database
from .schema import ANSWERS


class Answers:
    """All answers that were kept. The first one under a key stays."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, keys: Sequence[str]) -> dict[str, Any]:
        """The answers that are known, by key; keys without one are left out."""
        found: dict[str, Any] = {}
        with self._database.read() as connection:
            for some in chunks(list(dict.fromkeys(keys))):
                query = select(ANSWERS.c.key, ANSWERS.c.payload).where(ANSWERS.c.key.in_(some))
                found.update((key, decode_json(payload)) for key, payload in connection.execute(query))
        return found

    def put(self, answers: Mapping[str, Any]) -> None:
        """Keep answers (JSON) by key. Raises StoreError for what is not JSON; nothing is kept then."""
        rows = [{"key": key, "payload": encode_json(value, f"the answer {key}")} for key, value in answers.items()]
        if rows:
            with self._database.write() as connection:
                insert_missing(connection, ANSWERS, rows)
