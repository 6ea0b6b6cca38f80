"""The part of the ledger that goes with the code: openings and retirements as lines of JSON beside the settings.

A store lies on one machine; these files are committed, so that a fresh CI runner knows which holdout cases are used up.
Lines are sorted by time, so that two branches merge like any text. Of a case they hold its fingerprint, not its text.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Final, TypeVar

from ..core.errors import ConfigError
from ..core.files import atomic_write

EXPOSURE_FILE: Final = "skillevo-exposure.jsonl"
RETIRED_FILE: Final = "skillevo-retired.jsonl"


@dataclass(frozen=True, slots=True, order=True)
class OpeningRecord:
    """One holdout case that a decision used or a person saw. `at` is ISO 8601 UTC."""

    at: str
    skill: str
    experiment: str
    why: str
    fingerprint: str

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it the same opening: the first time counts."""
        return self.fingerprint, self.experiment, self.why


@dataclass(frozen=True, slots=True, order=True)
class Retirement:
    """One holdout case that counts as validation from then on. `case` is its id at that time, for people."""

    at: str
    skill: str
    case: str
    fingerprint: str
    actor: str
    reason: str

    @property
    def key(self) -> tuple[str, ...]:
        """What makes it the same retirement."""
        return self.skill, self.fingerprint


Line = TypeVar("Line", OpeningRecord, Retirement)


def read_openings(file: Path) -> list[OpeningRecord]:
    """The openings in a committed file; none when there is no file. Raises ConfigError with the line."""
    return _read(file, OpeningRecord)


def read_retirements(file: Path) -> list[Retirement]:
    """The retirements in a committed file; none when there is no file. Raises ConfigError with the line."""
    return _read(file, Retirement)


def missing_openings(file: Path, records: Sequence[OpeningRecord]) -> list[OpeningRecord]:
    """Those of the records that the file does not hold."""
    known = {one.key for one in read_openings(file)}
    return [one for one in records if one.key not in known]


def add_openings(file: Path, records: Sequence[OpeningRecord]) -> int:
    """Write what the file does not hold yet; returns how many that were. Raises ConfigError."""
    return _add(file, read_openings(file), records)


def add_retirements(file: Path, records: Sequence[Retirement]) -> int:
    """Write what the file does not hold yet; returns how many that were. Raises ConfigError."""
    return _add(file, read_retirements(file), records)


def _read(file: Path, kind: type[Line]) -> list[Line]:
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from None
    names = {field.name for field in fields(kind)}
    found = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            data = None
        if (
            not isinstance(data, dict)
            or set(data) != names
            or not all(isinstance(value, str) for value in data.values())
        ):
            raise ConfigError(
                f"{file}:{number}: expected one JSON object with the texts {', '.join(sorted(names))}; "
                "mend the line (a merge conflict is solved by keeping both sides), or restore the file from git"
            )
        found.append(kind(**data))
    return found


def _add(file: Path, known: Sequence[Line], records: Iterable[Line]) -> int:
    by_key = {one.key: one for one in known}
    before = len(by_key)
    for one in records:
        by_key.setdefault(one.key, one)
    if len(by_key) == before:
        return 0
    lines = [json.dumps(asdict(one), ensure_ascii=True, sort_keys=True) + "\n" for one in sorted(by_key.values())]
    try:
        atomic_write(file, "".join(lines).encode("ascii"))
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}") from None
    return len(by_key) - before
