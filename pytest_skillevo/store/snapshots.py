"""Whole skill folders by the digest of their content: what was judged is what is published, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from sqlalchemy import Connection, select

from ..core.canonical import digest
from ..core.errors import SkillError, StoreError
from ..core.skill import Skill
from ..core.skill.folder import MAIN_FILE as MAIN
from .blobs import get_blob, insert_missing, put_blobs
from .schema import SNAPSHOT_FILES, SNAPSHOTS

Tree: TypeAlias = Mapping[str, bytes]
"""The files of a folder by POSIX relative path, SKILL.md among them; empty for a skill that does not exist."""


@dataclass(frozen=True, slots=True)
class Version:
    """The files of a folder and which of them may be executed; None leaves permissions as they are."""

    files: Tree
    executable: frozenset[str] | None


def version_of(skill: Skill, executable: Iterable[str] | None) -> Version:
    """A skill with the permissions that were recorded for it."""
    return Version(tree_of(skill), None if executable is None else frozenset(executable))


def tree_of(skill: Skill) -> Tree:
    """All files of a skill."""
    return {MAIN: skill.document, **skill.files} if skill.exists else {}


def skill_from(name: str, tree: Tree) -> Skill:
    """The skill in a folder of that name with these files. Raises StoreError when they are no skill."""
    if not tree:
        return Skill.absent(name)
    files = {path: content for path, content in tree.items() if path != MAIN}
    try:
        return Skill.from_bytes(name, tree[MAIN], files)
    except (KeyError, SkillError) as error:
        raise StoreError(f"the stored version of {name} is no skill: {error}") from None


def put_snapshot(connection: Connection, skill: Skill) -> str:
    """Keep the content of a skill and return its digest."""
    tree = tree_of(skill)
    put_blobs(connection, tree.values())
    insert_missing(connection, SNAPSHOTS, [{"digest": skill.digest}])
    files = [{"snapshot": skill.digest, "path": path, "blob": digest(content)} for path, content in tree.items()]
    insert_missing(connection, SNAPSHOT_FILES, files)
    return skill.digest


def get_snapshot(connection: Connection, name: str, key: str) -> Skill:
    """The skill with this digest. Raises StoreError when it is missing or its bytes are not those of the digest."""
    if connection.scalar(select(SNAPSHOTS.c.digest).where(SNAPSHOTS.c.digest == key)) is None:
        raise StoreError(f"the store has no version {key} of {name}")
    query = select(SNAPSHOT_FILES.c.path, SNAPSHOT_FILES.c.blob).where(SNAPSHOT_FILES.c.snapshot == key)
    tree = {
        path: get_blob(connection, blob) for path, blob in connection.execute(query.order_by(SNAPSHOT_FILES.c.path))
    }
    skill = skill_from(name, tree)
    if skill.digest != key:
        raise StoreError(f"the stored version {key} of {name} is damaged: its files have another digest now")
    return skill
