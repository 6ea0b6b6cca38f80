"""Reviewers that misbehave, importable so that they can be sent to a process of their own."""

from __future__ import annotations

import time
from typing import Literal, NoReturn, TypeAlias

from pytest_skillevo.core.review.prompt import ReviewInput
from pytest_skillevo.core.review.reviewer import Review

Deed: TypeAlias = Literal["calm", "hang", "raise", "flood", "garbage"]
DEEDS: tuple[Deed, ...] = ("calm", "hang", "raise", "flood", "garbage")


class Misbehaving:
    """Does one thing in every review."""

    def __init__(self, deed: Deed) -> None:
        self.deed = deed

    def review(self, given: ReviewInput, *, seed: int) -> Review | None:
        """Misbehave."""
        if self.deed == "hang":
            time.sleep(3_600)
        if self.deed == "raise":
            raise RuntimeError("dial refused")
        if self.deed == "flood":
            _flood()
        if self.deed == "garbage":
            return "garbage" * 1_000  # type: ignore[return-value]
        return None


def _flood() -> NoReturn:
    hoard = []
    while True:
        hoard.append(bytearray(20_000_000))
