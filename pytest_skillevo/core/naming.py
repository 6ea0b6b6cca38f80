"""Folder names of new skills: readable, valid everywhere, and never the same for two different names.

The published grammar (spec/ecosystem.md 3.2) has only a-z, 0-9 and single hyphens, so that `C++ Build` and `C Build`
would share a folder, and so would all names in other scripts. A short hash of the name keeps them apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection
from typing import Final

from .canonical import digest
from .errors import SkillError
from .skill import Skill, slug
from .skill.markdown import common_newline
from .skill.page import MAX_NAME, NAME, decode, parse
from .skill.yamledit import with_value

_DIGITS: Final = 6
_SPACE: Final = re.compile(r"[\s_-]+")


def same_name(one: str, other: str) -> bool:
    """Whether two names are the same to a reader: case, spaces, hyphens and underscores do not count."""
    return _canonical(one) == _canonical(other)


def folder_name(name: str, names: Callable[[str], Collection[str]]) -> str:
    """The folder for a new skill of that name.

    `names` tells the names that the skill in a folder goes by, none if the folder is free. A name that the grammar
    cannot spell, and one whose folder goes by other names, gets a hash of the name.
    """
    plain = slug(name)
    if _spells(plain, name):
        held = names(plain)
        if not held or any(same_name(other, name) for other in held):
            return plain
    for digits in range(_DIGITS, MAX_NAME, _DIGITS):
        folder = f"{plain[: MAX_NAME - digits - 1].strip('-')}-{digest(_canonical(name))[:digits]}"
        held = names(folder)
        if not held or any(same_name(other, name) for other in held):
            return folder
    raise SkillError(f"no folder name is left for a skill named {name!r}")


def renamed(skill: Skill, folder: str) -> Skill:
    """The skill with `folder` as the name in its frontmatter, where that names something else; all else stays.

    Raises SkillError for a frontmatter that cannot hold the name.
    """
    if not skill.exists or skill.name == folder:
        return skill
    page = parse(decode(skill.document, folder), folder)
    if page.fields is None or page.fields.get("name") is None:
        return Skill.from_bytes(folder, skill.document, skill.files)
    yaml = with_value(page.yaml, page.fields, "name", folder, common_newline(page.text))
    if yaml is None:
        raise SkillError(f"{folder}: the frontmatter has no place for the name")
    return Skill.from_bytes(folder, page.with_yaml(yaml).encode("utf-8"), skill.files)


def is_folder_name(name: str) -> bool:
    """Whether a name can be a folder's as it is, in the published grammar."""
    return len(name) <= MAX_NAME and NAME.fullmatch(name) is not None


def _canonical(name: str) -> str:
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", name).casefold()).strip()


def _spells(plain: str, name: str) -> bool:
    """Whether the slug has every letter and digit of the name."""

    def signs(text: str) -> str:
        flat = unicodedata.normalize("NFKD", text).lower()
        return "".join(char for char in flat if unicodedata.category(char)[0] in "LN")

    return signs(plain) == signs(name) != ""
