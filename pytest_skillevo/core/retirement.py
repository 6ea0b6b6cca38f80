"""Opened holdout cases retired into validation: they decide nothing new, but they still teach (design: holdout).

A group moves as a whole: its cases tell of each other. Critical cases stay: a veto must not go away with a line in a
file.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from .errors import ConfigError
from .records import Case


def retire(cases: Sequence[Case], retired: Collection[tuple[str, str]]) -> tuple[Case, ...]:
    """The cases, holdout ones among them moved to validation where (skill, ledger key) is retired.

    Raises ConfigError for a critical case that would move.
    """
    if not retired:
        return tuple(cases)
    groups = {(case.skill, case.group) for case in cases if case.group and (case.skill, case.ledger_key) in retired}
    return tuple(_moved(case) if _is_retired(case, retired, groups) else case for case in cases)


def _is_retired(case: Case, retired: Collection[tuple[str, str]], groups: Collection[tuple[str, str | None]]) -> bool:
    return case.split == "holdout" and (
        (case.skill, case.ledger_key) in retired or (case.skill, case.group or None) in groups
    )


def _moved(case: Case) -> Case:
    if case.critical:
        raise ConfigError(
            f"{case.id} is critical and retired from the holdout, where alone a critical case can veto; "
            "mark a fresh case critical and take the mark off this one, or take its line out of the file"
        )
    return replace(case, split="validation", retired=True)
