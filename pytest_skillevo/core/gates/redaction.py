"""Redaction: credentials are taken out of every text that leaves for a model, a record or a report.

Best effort by shape (patterns.py), and exact for values that the caller knows (secrets of the environment). Redacting
twice equals redacting once, because two passes are the normal path.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Any, Final
from urllib.parse import quote

from .patterns import (
    BEARER,
    MARK,
    NO_SECRET,
    PRIVATE_KEY,
    SENSITIVE_WORDS,
    SLACK_HOOK,
    URL_PASSWORD,
    VENDOR_KEYS,
    VENDOR_WORDS,
    header_values,
    is_sensitive,
    pairs,
)

__all__ = [
    "MARK",
    "SHORTEST_VALUE",
    "holds_key",
    "is_secret",
    "is_sensitive",
    "redact",
    "redacted",
    "redactor",
    "secret_values",
]

#: Values of environment variables shorter than this are not searched for: they would hit ordinary words.
SHORTEST_VALUE: Final = 8


def secret_values(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The values of secret-looking variables, to be searched for exactly; short and purely numeric ones left out."""
    return tuple(
        value
        for name, value in sorted(environ.items())
        if is_sensitive(name) and len(value.strip()) >= SHORTEST_VALUE and not value.strip().isdigit()
    )


def redactor(values: Iterable[str] = ()) -> Callable[[str], str]:
    """A redaction that also knows these exact values (see secret_values)."""
    known = tuple(values)
    # Conversations repeat their prompts and tool answers from rollout to rollout.
    kept = lru_cache(maxsize=4096)(lambda text: redact(text, known))
    return lambda text: kept(text) if len(text) <= 8_000 else redact(text, known)


def redact(text: str, values: Iterable[str] = ()) -> str:
    """The text with credentials replaced by MARK; quotes, delimiters and harmless names stay as they are."""
    if not text.strip():
        return text
    for value in _spellings(tuple(values)):
        text = text.replace(value, MARK)
    # Looking for a word that each shape needs is some ten times cheaper than looking for the shape.
    if "PRIVATE KEY" in text:
        text = PRIVATE_KEY.sub(MARK, text)
    if "://" in text:
        text = URL_PASSWORD.sub(rf"\g<1>{MARK}@", text)
    if "hooks.slack.com/" in text:
        text = SLACK_HOOK.sub(rf"\g<1>{MARK}", text)
    if _has(text, VENDOR_WORDS):
        text = VENDOR_KEYS.sub(MARK, text)
    lower = text.lower()
    if "authorization" in lower:
        text = _marked(text, header_values(text))
    if "bearer" in lower:
        text = BEARER.sub(rf"\g<1>{MARK}", text)
    if _has(lower, SENSITIVE_WORDS):
        text = _marked(text, ((pair.start, pair.end) for pair in pairs(text)))
    return text


def redacted(value: Any, redact: Callable[[str], str]) -> Any:
    """Plain JSON with every text redacted, keys as well, and whole texts whose key says that they are a secret."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {redact(key): MARK if is_secret(key, item) else redacted(item, redact) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    # Long lists are those of scores.
    return [item if type(item) is float else redacted(item, redact) for item in value]


def is_secret(key: str, value: Any) -> bool:
    """Whether the value of a mapping, or one of a list, is a credential by its key alone: {"password": "hunter2"}."""
    if isinstance(value, list | tuple):
        return any(is_secret(key, one) for one in value)
    return isinstance(value, str) and is_sensitive(key) and bool(value.strip()) and not NO_SECRET.fullmatch(value)


def holds_key(text: str) -> bool:
    """Whether the text holds a key of a known provider; unlike `redact` it does not go by names such as password."""
    return _has(text, VENDOR_WORDS) and VENDOR_KEYS.search(text) is not None


def _has(text: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110 (a generator in any() costs more than the search itself)
        if word in text:
            return True
    return False


@cache
def _spellings(values: tuple[str, ...]) -> tuple[str, ...]:
    """Each value as it is, as JSON text and as part of a URL; longest first, so that no value hides a longer one."""
    found = {
        spelling
        for value in values
        if value.strip()
        for spelling in (value, value.strip(), json.dumps(value)[1:-1], quote(value, safe="", errors="replace"))
    }
    return tuple(sorted(found, key=lambda spelling: (-len(spelling), spelling)))


def _marked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """The text with MARK in place of each span; spans come in order and do not overlap."""
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += (text[done:start], MARK)
        done = end
    return "".join(parts) + text[done:]
