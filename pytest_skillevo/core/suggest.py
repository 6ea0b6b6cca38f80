"""One way to point at the name that was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """A question with the closest known name, "" when none is close."""
    near = difflib.get_close_matches(name, list(known), 1)
    return f"Did you mean {near[0]!r}?" if near else ""
