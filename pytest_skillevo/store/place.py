"""Where a partition keeps its skills, what else its agents see, and what must not be changed there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from ..core.errors import SkillError, StoreError
from ..core.scopes import CONTAINER, visible_keys
from ..core.skill import Skill
from ..core.skill.folder import MAIN_FILE as MAIN
from ..core.skill.markdown import scan, split_lines
from .publisher import skill_folder


class Protected(StoreError):
    """The skill may be read but not changed."""


@dataclass(frozen=True, slots=True)
class Place:
    """One partition. `key` is its key in the store; `skills` is the folder of all partitions, None without one."""

    key: str
    skills: Path | None
    #: Patterns of folder names that nothing is published to.
    protected: Sequence[str] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The folders from the skills folder to the partition's own."""
        return tuple(self.key.split("/")) if self.key else ()

    @property
    def visible(self) -> tuple[str, ...]:
        """Keys of all partitions whose skills agents see here, this one first."""
        return visible_keys(self.key)

    def folder(self, skill: str) -> Path:
        """The folder of a skill. Raises StoreError where nothing may be written."""
        if self.skills is None:
            raise StoreError("the store was opened without a skills folder, so it cannot publish")
        self.require_writable(skill)
        return skill_folder(self.skills, self.parts, skill)

    def require_writable(self, skill: str) -> None:
        """Raise Protected for a protected skill."""
        pattern = next((pattern for pattern in self.protected if fnmatchcase(skill, pattern)), None)
        if pattern is not None:
            raise Protected(f"the skill {skill!r} is protected (skillevo_protected: {pattern}); nothing may change it.")

    def skill_folders(self) -> Iterator[tuple[str, Path]]:
        """The skills in the folders of all visible partitions, each with its partition's key."""
        for key in self.visible if self.skills is not None else ():
            assert self.skills is not None
            root = self.skills.joinpath(*key.split("/"))
            for folder in sorted(root.iterdir()) if root.is_dir() else ():
                if not folder.name.startswith(CONTAINER) and (folder / MAIN).is_file():
                    yield key, folder


def title_of(folder: Path) -> str:
    """The name of the skill in a folder: its main heading, else the name in its frontmatter, else the folder's."""
    try:
        return title(Skill.load(folder))
    except SkillError:
        return folder.name


def title(skill: Skill) -> str:
    """The name that a skill gives itself: its main heading, else the name in its frontmatter."""
    headings = scan([line.rstrip("\r\n") for line in split_lines(skill.body)]).headings
    return next((heading.title for heading in headings if heading.level == 1), "") or skill.name
