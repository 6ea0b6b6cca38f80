"""How the versions of a skill follow each other: what was active before, and what people changed in between."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Final

from sqlalchemy import Connection

from ..core.errors import SkillError, StoreError
from ..core.revisions import Action, Deed, Revision, Status
from ..core.skill import Skill
from ..core.skill.folder import MAIN_FILE as MAIN
from . import words
from .audit import Change
from .revisions import Proposal, find_content, get_pointer, get_revision, insert_revision, move_pointer, set_status
from .snapshots import Version, get_snapshot

#: Source of a revision that was found in the skill folder: people wrote it, no gate has judged it.
FOUND: Final = "import"


class StaleParent(StoreError):
    """The skill is no longer what the candidate was judged against."""


def load(folder: Path, skill: str) -> Skill:
    """The version in a folder; the absent skill where there is none. Raises StoreError for one that cannot be read."""
    if not os.path.lexists(folder / MAIN):
        return Skill.absent(skill)
    try:
        return Skill.load(folder)
    except SkillError as error:
        raise StoreError(f"the present version of {skill} cannot be read: {error}") from None


def action_of(before: Skill, after: Skill) -> Action:
    """What going from one version to the other does."""
    if not after.exists:
        return Action.DELETE
    return Action.UPDATE if before.exists else Action.CREATE


def known_parent(
    connection: Connection, revision: Revision, judged: Skill, version: Version, change: Change
) -> Revision:
    """The active revision with the judged content; what lies on disk becomes one if it is none yet.

    Raises StaleParent when the judged content is one that the active revision has replaced.
    """
    pointer = get_pointer(connection, revision.scope, revision.skill)
    active = None if pointer is None else get_revision(connection, revision.scope, pointer.revision)
    if active is not None and active.digest == revision.digest:
        raise StoreError(f"{revision.id} has the same content as {active.id}, which is active already; reject it.")
    if active is not None and active.digest == judged.digest:
        return active
    if active is not None:
        older = find_content(connection, revision.scope, revision.skill, judged.digest, Status.ARCHIVED)
        if older is not None:
            raise StaleParent(words.superseded(revision, older, active))
    found = replace(change, reason=f"found in the skill folder when {revision.id} was published")
    return make_active(connection, (revision.scope, revision.skill), judged, version, active, found)


def make_active(
    connection: Connection,
    where: tuple[str, str],
    content: Skill,
    version: Version,
    active: Revision | None,
    change: Change,
) -> Revision:
    """Give what was found in the folder of a skill (partition, name) a revision, and move the pointer to it."""
    scope, skill = where
    origin = Skill.absent(skill)
    if active is not None:
        edited = replace(change, reason="edited in the skill folder")
        set_status(connection, active, Status.ARCHIVED, Deed.ARCHIVE, edited)
        origin = get_snapshot(connection, skill, active.digest)
    proposal = _found(skill, content, origin, version)
    replaces = None if active is None else active.id
    made = insert_revision(connection, scope, proposal, Status.ACTIVE, Deed.ADOPT, change, replaces=replaces)
    move_pointer(connection, made, change.at)
    return made


def keep_edit(connection: Connection, current: Revision, present: Skill, version: Version, change: Change) -> Revision:
    """Keep an edit that is about to be overwritten as an archived revision, which a rollback can bring back."""
    known = find_content(connection, current.scope, current.skill, present.digest, Status.ARCHIVED)
    if known is not None:
        return known
    proposal = _found(current.skill, present, get_snapshot(connection, current.skill, current.digest), version)
    kept = replace(change, reason=f"edit of {current.id}, kept before the folder was restored")
    return insert_revision(connection, current.scope, proposal, Status.ARCHIVED, Deed.ADOPT, kept, replaces=current.id)


def rollback_target(connection: Connection, current: Revision, to: str | None) -> Revision:
    """The archived revision to go back to: the one named, else the nearest one before the active one.

    What shadow mode let through is never gone back to by default.
    """
    if to is not None:
        target = get_revision(connection, current.scope, to)
        if target.skill != current.skill:
            raise StoreError(f"{target.id} is a revision of {target.skill}, not of {current.skill}.")
        if target.status is not Status.ARCHIVED:
            raise StoreError(f"{target.id} is {target.status.words}; only an archived revision can be rolled back to.")
        return target
    target, seen = current, {current.id}
    while target.parent is not None and target.parent not in seen:
        target = get_revision(connection, current.scope, target.parent)
        seen.add(target.id)
        if target.status is Status.ARCHIVED and not target.bypassed:
            return target
    raise StoreError(f"{current.id} is the first known version of {current.skill}; there is none before it.")


def _found(skill: str, content: Skill, origin: Skill, version: Version) -> Proposal:
    executable = None if version.executable is None else tuple(sorted(version.executable))
    return Proposal(skill, content, origin, action_of(origin, content), FOUND, {}, executable=executable)
