"""What happened in rollouts: traces as compressed JSON, by digest, with a limit to their size."""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection

from ..core.canonical import digest
from .blobs import get_blob, put_blobs
from .columns import decode_json, encode_json
from .database import Database

#: Bytes of JSON, before compression. A trace is for reading; what nobody could read is cut.
TRACE_CAP: Final = 1_000_000

#: Characters of one text and entries of one list that survive, from the mildest cut to the hardest.
_CUTS: Final = ((20_000, 1_000), (4_000, 400), (1_000, 150), (250, 50), (80, 12))
_DEPTH: Final = 40


class Traces:
    """Traces wait in memory and are written with the journal entries that name them, in the same transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: dict[str, bytes] = {}

    def put(self, data: Any) -> str:
        """Keep JSON-able data and return the digest under which it is found. Raises StoreError for what is not JSON."""
        content = fit(data, TRACE_CAP).encode("ascii")
        key = digest(content)
        self._waiting[key] = content
        return key

    def get(self, key: str) -> Any:
        """The data, or what was left of it: an object with `cut` (a sentence) and `trace`. Raises StoreError."""
        content = self._waiting.get(key)
        if content is None:
            with self._database.read() as connection:
                content = get_blob(connection, key)
        return decode_json(content.decode("ascii"))

    def write(self, connection: Connection) -> tuple[str, ...]:
        """Write what waits, inside the caller's transaction; give the answer to `written` when that is committed."""
        keys = tuple(self._waiting)
        if keys:
            put_blobs(connection, self._waiting.values())
        return keys

    def written(self, keys: tuple[str, ...]) -> None:
        """Forget what was committed."""
        for key in keys:
            self._waiting.pop(key, None)

    @property
    def waiting(self) -> bool:
        """Whether anything is still unwritten."""
        return bool(self._waiting)


def fit(data: Any, cap: int) -> str:
    """JSON text of the data in at most `cap` bytes; when more would be needed, the data cut and the cut told."""
    text = encode_json(data, "the trace of a rollout")
    if len(text) <= cap:
        return text
    for characters, entries in _CUTS:
        note = f"cut from {len(text):,} bytes: texts over {characters:,} characters, lists over {entries:,} entries"
        smaller = encode_json({"cut": note, "trace": _cut(data, characters, entries, _DEPTH)}, "the cut trace")
        if len(smaller) <= cap:
            return smaller
    return encode_json({"cut": f"left out: {len(text):,} bytes", "trace": None}, "the cut trace")


def _cut(value: Any, characters: int, entries: int, depth: int) -> Any:
    """The value with long texts and lists shortened in the middle: the beginning and the end tell most."""
    if isinstance(value, str) and len(value) > characters:
        tail = characters // 4
        return f"{value[: characters - tail]} [... {len(value) - characters:,} characters cut ...] {value[-tail:]}"
    if not isinstance(value, list | tuple | dict):
        return value
    if depth == 0:
        return "[... cut: nested too deeply ...]"
    if isinstance(value, dict):
        kept = [(key, _cut(item, characters, entries, depth - 1)) for key, item in list(value.items())[:entries]]
        more = len(value) - len(kept)
        return dict(kept) | ({"[...]": f"{more:,} entries cut"} if more else {})
    items = list(value)
    if len(items) > entries:
        tail = entries // 4
        marker = f"[... {len(items) - entries:,} entries cut ...]"
        items = [*items[: entries - tail], marker, *items[len(items) - tail :]]
    return [_cut(item, characters, entries, depth - 1) for item in items]
