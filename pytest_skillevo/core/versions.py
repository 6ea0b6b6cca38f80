"""Which skills two folders hold in different versions: edited, added, deleted, renamed."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from .errors import SkillError
from .skill import Skill
from .skill.folder import MAIN_FILE

ChangeKind: TypeAlias = Literal["edited", "added", "deleted", "renamed"]

#: Share of equal text from which a skill that is gone and a new one are the same under another name (as git has it).
SAME_SKILL: Final = 0.5


@dataclass(frozen=True, slots=True)
class Change:
    """One skill in two versions; an absent one stands for a skill that is new or gone.

    `was` is its folder in the reference, by which the reference's cases know it.
    """

    name: str
    kind: ChangeKind
    before: Skill
    after: Skill
    was: str


def skills_in(folder: Path) -> dict[str, Skill]:
    """The skills of a folder by name. Raises SkillError for one that cannot be read."""
    if not folder.is_dir():
        return {}
    try:
        found = sorted(child for child in folder.iterdir() if (child / MAIN_FILE).is_file())
    except OSError as error:
        raise SkillError(f"{folder}: cannot be read: {error.strerror}") from error
    return {child.name: Skill.load(child) for child in found}


def changes(before: Mapping[str, Skill], after: Mapping[str, Skill]) -> list[Change]:
    """Every skill whose bytes differ, by name."""
    gone = {name: skill for name, skill in before.items() if name not in after}
    found = []
    for name in sorted(after):
        old, new = before.get(name), after[name]
        if old is not None:
            if old.digest != new.digest:
                found.append(Change(name, "edited", old, new, name))
            continue
        twin = _twin(new, gone)
        if twin is None:
            found.append(Change(name, "added", Skill.absent(name), new, name))
        else:
            found.append(Change(name, "renamed", gone.pop(twin), new, twin))
    found += [Change(name, "deleted", skill, Skill.absent(name), name) for name, skill in gone.items()]
    return sorted(found, key=lambda change: change.name)


def _twin(new: Skill, gone: Mapping[str, Skill]) -> str | None:
    """Which of the skills that are gone this one most likely was."""
    alike = {name: difflib.SequenceMatcher(None, skill.body, new.body).ratio() for name, skill in gone.items()}
    best = max(alike, key=lambda name: alike[name], default=None)
    return best if best is not None and alike[best] >= SAME_SKILL else None
