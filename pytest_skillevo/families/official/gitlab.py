"""The evaluator of the gitlab family: paths, plausible counts, a summary that adds up (spec/suites.md 1.3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .rules import Head, Part


@dataclass(frozen=True, slots=True)
class GitlabRules:
    """One level of the family. `counts` gives, by field, the keys under which a count object holds its number."""

    required: tuple[str, ...]
    counts: Mapping[str, tuple[str, ...]]
    count_type_checked: bool
    bare_counts_checked: bool
    summary: tuple[str, ...]
    level: str

    @property
    def head(self) -> Head:
        """The weights of the first parts."""
        return Head(file=5, readable=5, honest=10, counted=10, ids=15)

    def entries(self, result: Any) -> Any:
        """The list of projects."""
        return result.get("projects", [])

    def found(self, entries: Any, expected: Sequence[Any]) -> int:
        """How many of the expected paths were delivered, anywhere in the list."""
        given = {(entry.get("path") or "").lower() for entry in entries}
        return sum(1 for wanted in expected if wanted in given)

    def parts(self, result: Any, entries: Any, expected: Sequence[Any]) -> list[Part]:
        """Valid data, cross-checked summary, completeness."""
        first = entries[: len(expected)]
        seen = len(first)
        valid = sum(1 for entry in first if self._valid(entry))
        filled = sum(
            sum(1 for key in self.required if entry.get(key) is not None) / len(self.required) for entry in first
        )
        checks = [_summary_check(name, result.get("summary", {}), entries) for name in self.summary]
        return [
            (valid / seen if seen else 0.0, 30),
            (sum(checks) / len(checks), 10),
            (filled / seen if seen else 0.0, 15),
        ]

    def _valid(self, entry: Any) -> bool:
        path = entry.get("path")
        if not isinstance(path, str) or len(path) < 2:
            return False
        if not all(self._count_holds(entry.get(field), keys) for field, keys in self.counts.items()):
            return False
        activity = entry.get("activity_score")
        if activity is not None and not (isinstance(activity, int | float) and 0 <= activity <= 100):
            return False
        health = entry.get("health_status")
        return self.level != "h1" or not health or (isinstance(health, str) and len(health) >= 2)

    def _count_holds(self, value: Any, keys: Sequence[str]) -> bool:
        """Absent, or not negative. Only the levels that check bare numbers refuse an object without a number."""
        if value is None:
            return True
        if isinstance(value, dict):
            value = next((value[key] for key in keys if value.get(key) is not None), None)
            if value is None:
                return not self.bare_counts_checked
        elif not self.bare_counts_checked:
            return True
        if self.count_type_checked and not isinstance(value, int | float):
            return False
        return bool(value >= 0)


def _summary_check(name: str, summary: Any, entries: Any) -> bool:
    if name == "total_projects":
        return bool(summary.get("total_projects") == len(entries))
    if name == "avg":
        return summary.get("avg_activity_score") is not None
    value = summary.get(name)
    if name in ("healthiest_project", "most_active_project"):
        return bool(value)
    return value is not None and value >= 0
