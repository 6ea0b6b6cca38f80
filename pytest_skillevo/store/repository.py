"""The skills that an agent may use: an index of names and descriptions, and the whole text of each on demand.

A library is what the folders held at one moment, so that a task works with one version of everything. The next task
takes a new one, and with it whatever was published, pulled or edited in between; unchanged skills are not read again.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from ..core.errors import SkillError
from ..core.scopes import CONTAINER, NO_SCOPE, Scope
from ..core.skill import Skill
from ..core.skill.folder import MAIN_FILE as MAIN
from .place import title

_Signature: TypeAlias = tuple[tuple[str, int, int, int], ...]
#: How often a folder is read again that is being written to while it is read.
_TRIES: Final = 5


@dataclass(frozen=True, slots=True)
class Listing:
    """One skill of a library."""

    name: str
    description: str
    #: Its folder.
    folder: Path
    #: Whether it lies in the partition's own folder, so that it may be changed from there.
    managed: bool


@dataclass(frozen=True, slots=True)
class Library:
    """Skills as they were when the library was taken, by name."""

    index: tuple[Listing, ...]
    #: Why skills are missing, one sentence each.
    problems: tuple[str, ...]
    _skills: dict[str, Skill] = field(repr=False)

    @property
    def skills(self) -> tuple[Skill, ...]:
        """All skills, in the order of the index."""
        return tuple(self._skills[listing.name] for listing in self.index)

    def skill(self, name: str) -> Skill | None:
        """The whole skill of that name; None when there is none."""
        return self._skills.get(name)

    def find(self, name: str) -> Listing | None:
        """The skill that somebody means by a name: its own, its folder's, or its title."""
        for listing in self.index:
            if name in (listing.name, listing.folder.name, title(self._skills[listing.name])):
                return listing
        return None


class Repository:
    """Takes libraries of a partition: its own skills, those of its app, those shared by all, and `others`.

    `skills` is the folder of all partitions; `others` are folders of skills that may be read and never changed. Where
    two skills have one name, the nearer one is seen.
    """

    def __init__(self, skills: Path | None, scope: Scope = NO_SCOPE, others: Sequence[Path] = ()) -> None:
        partitions = [] if skills is None else [skills.joinpath(*one.parts) for one in scope.visible]
        self._roots = [*partitions, *others]
        self._managed = partitions[0] if partitions else None
        self._cache: dict[Path, tuple[_Signature, Skill]] = {}

    def library(self) -> Library:
        """The skills as they are now."""
        index: dict[str, Listing] = {}
        skills: dict[str, Skill] = {}
        problems: list[str] = []
        seen: dict[Path, tuple[_Signature, Skill]] = {}
        for root in self._roots:
            for folder in _folders(root):
                try:
                    seen[folder] = self._load(folder)
                except (SkillError, OSError) as error:
                    problems.append(str(error))
                    continue
                skill = seen[folder][1]
                if skill.name not in index:
                    managed = root == self._managed and not folder.is_symlink()
                    index[skill.name] = Listing(skill.name, skill.description, folder, managed)
                    skills[skill.name] = skill
        self._cache = seen
        return Library(tuple(index[name] for name in sorted(index)), tuple(problems), skills)

    def _load(self, folder: Path) -> tuple[_Signature, Skill]:
        before = _signature(folder)
        known = self._cache.get(folder)
        if known is not None and known[0] == before:
            return known
        for _ in range(_TRIES):
            skill = Skill.load(folder)
            after = _signature(folder)
            if after == before:
                break
            before = after
        return before, skill


def _folders(root: Path) -> Iterator[Path]:
    if root.is_dir():
        for folder in sorted(root.iterdir()):
            if not folder.name.startswith(CONTAINER) and (folder / MAIN).is_file():
                yield folder


def _signature(folder: Path) -> _Signature:
    """What changes whenever a file of the folder is replaced, written, added or removed."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place) / name
            state = path.lstat()
            found.append((str(path), state.st_mtime_ns, state.st_size, state.st_ino))
    return tuple(sorted(found))
