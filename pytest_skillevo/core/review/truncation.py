"""Cutting texts to a length and saying so, by characters (spec/online-review.md 5.1, 5.3)."""

from __future__ import annotations

from typing import Final

_EXCERPT_MARK: Final = "\n... [truncated]"
_LEAST_TAIL: Final = 16
_LEAST_LIMIT: Final = 32


def excerpt(text: str, budget: int) -> str:
    """The beginning of a text, with its mark at most `budget` characters (0 or less: everything)."""
    text = text.strip()
    if budget <= 0 or len(text) <= budget:
        return text
    if budget < len(_EXCERPT_MARK):
        return text[:budget]
    return text[: budget - len(_EXCERPT_MARK)].rstrip(" \t\n") + _EXCERPT_MARK


def clip(text: str, limit: int) -> str:
    """The first three quarters and the end of a text around a line that tells how much is missing.

    The line comes on top of the limit. A limit of 0 or less means everything; a tiny one keeps the beginning only.
    """
    if limit <= 0 or len(text) <= limit:
        return text
    if limit < _LEAST_LIMIT:
        return text[:limit]
    head = 3 * limit // 4
    tail = max(limit - head, _LEAST_TAIL)
    missing = len(text) - head - tail
    if missing <= 0:
        return text
    return f"{text[:head]}\n[{missing} characters left out]\n{text[len(text) - tail :]}"
