"""What a journal holds; apart from the journal, so that whoever only reads records does not load a database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """One thing that happened. `key` is unique in its experiment; `payload` is JSON."""

    key: str
    kind: str
    payload: Any
