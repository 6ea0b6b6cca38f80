"""What a test hands over, as JSON that is safe to keep: plain values, bounded nesting, no secrets."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..core.gates.redaction import MARK, is_sensitive

#: Nesting and length of what a test may hand over as a trace; the store caps the whole.
DEEPEST = 30
TEXT_LIMIT = 10_000

#: Stands between texts that are looked through together; no pattern of the redaction crosses it.
_BORDER = "\n\x00\n"


def clean(value: Any, redact: Callable[[str], str]) -> Any:
    """A JSON-able copy with every text redacted; what is no JSON, or nested too deeply, becomes its text."""
    plain = _plain(value, 0)
    # Nearly all records hold no secret, and looking through them as one text is several times as fast.
    joined = _BORDER.join(_texts(plain))
    return plain if redact(joined) == joined else _redacted(plain, redact)


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, bool | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    if depth < DEEPEST and isinstance(value, Mapping):
        return {str(key): _entry(str(key), item, depth + 1) for key, item in value.items()}
    if depth < DEEPEST and isinstance(value, list | tuple):
        return [_plain(item, depth + 1) for item in value]
    return str(value)[:TEXT_LIMIT]


def _entry(key: str, value: Any, depth: int) -> Any:
    """The value of an object's key; a text under the name of a credential is one, whatever it looks like."""
    if isinstance(value, str) and value and is_sensitive(key):
        return MARK
    return _plain(value, depth)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _redacted(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(key): _redacted(item, redact) for key, item in value.items()}
    return [_redacted(item, redact) for item in value] if isinstance(value, list) else value
