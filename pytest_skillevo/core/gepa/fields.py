"""Text on its way into a prompt: cleaned, redacted and bounded, so that no field can flood it (spec/gepa.md 1.9)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

#: What stands where a long field was cut.
CUT: Final = "\n...[truncated]...\n"
#: Redaction sees this many times the bound. It runs before the cut, because a credential cut in two has no shape any
#: more, and on a bounded text, because a trace may be megabytes long.
_REDACTED_SHARE: Final = 4


def bounded(text: str, limit: int) -> str:
    """At most `limit` characters: three quarters of the room for the head, one for the tail, CUT between them."""
    if len(text) <= limit:
        return text
    room = limit - len(CUT)
    head = room * 3 // 4
    return text[:head] + CUT + text[len(text) - (room - head) :]


def prepared(text: str, limit: int, redact: Callable[[str], str]) -> str:
    """A field for a prompt: trimmed, valid Unicode, redacted, bounded."""
    whole = text.encode("utf-8", "replace").decode("utf-8").strip()
    return bounded(redact(bounded(whole, limit * _REDACTED_SHARE)), limit)


def tagged(tag: str, value: Any) -> str:
    """A JSON value between tags on lines of their own; no text in it can close the tag."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
    return f"<{tag}>\n{text}\n</{tag}>"


def as_text(value: Any) -> str:
    """A trace as JSON text, the same before and after a journey through a store; text stays as it is."""
    return value if isinstance(value, str) else json.dumps(_plain(value), ensure_ascii=False, sort_keys=True)


def _plain(value: Any) -> Any:
    """JSON-able content only. Another object is named by its type: its repr may hold an address."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_plain(item) for item in value]
    return f"<{type(value).__name__}>"
