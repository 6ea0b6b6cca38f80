"""Why a promotion is refused, in sentences that say what to do about it."""

from __future__ import annotations

from pathlib import Path

from ..core.revisions import Revision, Status
from ..core.skill import Skill
from .snapshots import tree_of


def differences(expected: Skill, present: Skill) -> str:
    """The files that differ, each with how."""
    old, new = tree_of(expected), tree_of(present)
    changed = [path for path in sorted({*old, *new}) if old.get(path) != new.get(path)]
    words = {True: "is new", False: "differs"}
    return ", ".join(f"{path} {'is gone' if path not in new else words[path not in old]}" for path in changed)


def not_approvable(revision: Revision) -> str:
    """For a revision that does not wait for approval."""
    if revision.status is Status.PENDING_EVAL:
        return (
            f"{revision.id} waits for better evidence (pending eval); it cannot be approved yet. "
            f"See skillevo revisions reevaluate {revision.id}."
        )
    return f"{revision.id} is {revision.status.words}; only a revision that waits for approval can be approved."


def other_digest(revision: Revision, digest: str) -> str:
    """For an approval that names other content."""
    return (
        f"{revision.id} has the digest {revision.digest[:12]}, not {digest[:12]}: it is not the content "
        "that you looked at. Nothing was published."
    )


def stale(revision: Revision, folder: Path, judged: Skill, present: Skill) -> str:
    """For a folder that no longer holds the judged version."""
    return (
        f"{revision.id} was judged against another version of {revision.skill} than the one in {folder}: "
        f"{differences(judged, present)}. Evaluate it again (pytest --evolve) on the present version, "
        "or put the judged version back and approve again."
    )


def moved_on(skill: str, judged: Skill, present: Skill) -> str:
    """For a candidate that came too late."""
    return f"judged against another version of {skill} than the present one: {differences(judged, present)}"


def superseded(revision: Revision, older: Revision, active: Revision) -> str:
    """For a folder that holds an older version than the pointer."""
    return (
        f"{revision.id} was judged against another version of {revision.skill} than the active one: "
        f"against {older.id}, which {active.id} has replaced. Roll back to {older.id} first, make the present files "
        f"the active version (skillevo revisions repair --adopt {revision.skill}), or evaluate it again."
    )


def edited(current: Revision, folder: Path, published: Skill, present: Skill) -> str:
    """For a rollback that would overwrite an edit."""
    return (
        f"{folder} was edited since {current.id} was published: {differences(published, present)}. "
        "A rollback would lose that; keep a copy, undo the edit, and roll back again."
    )
