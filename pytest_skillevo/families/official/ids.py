"""How the original compares ids: one mode a family (spec/suites.md 1.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final


def _lower(value: Any) -> Any:
    return value.lower()


def _same(value: Any) -> Any:
    return value


def _equal(given: Any, wanted: Any) -> bool:
    return bool(given == wanted)


def _either(given: Any, wanted: Any) -> bool:
    """The empty text lies inside every name: the original's best known hole."""
    return wanted in given or given in wanted


@dataclass(frozen=True, slots=True)
class IdMode:
    """How ids are compared: `read` turns a delivered id into a key, `same` matches it with an expected one."""

    read: Callable[[Any], Any]
    same: Callable[[Any, Any], bool]
    #: Value of a missing id, in the list of ids and in an entry's own check.
    missing: Any = ""
    #: How the entry's own check compares, where that differs.
    entry_same: Callable[[Any, Any], bool] | None = None
    #: Which delivered ids are looked at.
    counts: Callable[[Any], bool] = lambda value: True


ID_MODES: Final[Mapping[str, IdMode]] = {
    "either": IdMode(_lower, _either),
    "contains": IdMode(_lower, lambda given, wanted: wanted in given, entry_same=_either),
    "exact_ci": IdMode(_lower, _equal),
    "upper": IdMode(lambda value: value.upper(), _equal),
    "code": IdMode(lambda value: (value or "").upper().strip(), _equal),
    "exact": IdMode(_same, _equal),
    "truthy_exact": IdMode(_same, lambda given, wanted: bool(given) and given == wanted, None),
    "int": IdMode(_same, _equal, None, counts=lambda value: isinstance(value, int)),
    "int_coerce": IdMode(int, _equal, 0),
}
