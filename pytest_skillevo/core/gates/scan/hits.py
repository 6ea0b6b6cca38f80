"""One place in a text where something dangerous stands."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Hit:
    """A danger in a passage: `text[start:end]`. Codes are "category:name" and stable; settings name them."""

    code: str
    message: str
    start: int
    end: int
    #: The matched words themselves say what to do ("read ~/.ssh/id_rsa"), instead of being what is done.
    order: bool = False
