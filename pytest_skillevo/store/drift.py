"""Drift: where the skills folder does not hold what the active pointers say (spec/online-revisions.md 19 #3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.errors import StoreError
from ..core.revisions import Revision, Status
from . import words
from .database import Database
from .lineage import load
from .place import Place
from .publisher import executables, skill_folder
from .revisions import Pointer, find_content, get_revision
from .snapshots import get_snapshot, tree_of


@dataclass(frozen=True, slots=True)
class Drift:
    """One skill whose folder differs from its active revision."""

    skill: str
    #: The active revision.
    revision: str
    #: edited, missing, older (the folder holds an archived revision), permissions, unreadable.
    kind: str
    #: What differs, in words.
    what: str

    def to_json(self) -> dict[str, Any]:
        """A JSON object with all fields."""
        return {"skill": self.skill, "revision": self.revision, "kind": self.kind, "what": self.what}


def drift_of(database: Database, place: Place, pointers: Sequence[Pointer]) -> Iterator[Drift]:
    """The drift of these skills, in their order. Raises StoreError without a skills folder."""
    if place.skills is None:
        raise StoreError("the store was opened without a skills folder, so it has nothing to compare with")
    for pointer in pointers:
        try:
            folder = skill_folder(place.skills, place.parts, pointer.skill)
            present = load(folder, pointer.skill)
        except StoreError as error:
            yield Drift(pointer.skill, pointer.revision, "unreadable", str(error))
            continue
        with database.read() as connection:
            active = get_revision(connection, place.key, pointer.revision)
            if present.digest == pointer.digest:
                found = executables(folder, tree_of(present))
                yield from _permissions(active, found)
                continue
            published = get_snapshot(connection, pointer.skill, pointer.digest)
            older = find_content(connection, place.key, pointer.skill, present.digest, Status.ARCHIVED)
        if not present.exists:
            yield Drift(pointer.skill, active.id, "missing", "the folder has no SKILL.md")
        elif older is not None:
            yield Drift(pointer.skill, active.id, "older", f"the folder holds {older.id}")
        else:
            yield Drift(pointer.skill, active.id, "edited", words.differences(published, present))


def _permissions(active: Revision, found: Sequence[str] | None) -> Iterator[Drift]:
    if active.executable is None or found is None:
        return
    wanted = set(active.executable)
    changed = [f"{path} may not be executed" for path in sorted(wanted - set(found))]
    changed += [f"{path} may be executed" for path in sorted(set(found) - wanted)]
    if changed:
        yield Drift(active.skill, active.id, "permissions", ", ".join(changed))
