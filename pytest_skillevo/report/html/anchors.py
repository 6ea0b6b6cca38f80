"""The ids of the parts of a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Anchors:
    """The ids of one comparison on the page: those of cases are numbered, because a case's own id may hold anything.

    `prefix` keeps apart the comparisons of one page.
    """

    numbers: Mapping[str, int]
    prefix: str = ""

    def __call__(self, case: str) -> str:
        """The id of a case, or of the table of cases where it has none."""
        return self.named(f"case-{self.numbers[case]}" if case in self.numbers else "cases")

    def named(self, name: str) -> str:
        """The id of a part."""
        return self.prefix + name
