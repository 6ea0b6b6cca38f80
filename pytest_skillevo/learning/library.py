"""The skills that a review is shown: those that agents of the session's partition see, each with its protection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..core.errors import StoreError
from ..core.review.applying import Shelf
from ..core.review.prompt import ShownSkill
from ..core.review.protection import Protection, refusal
from ..core.review.reconcile import Known
from ..core.scopes import Scope
from ..core.skill import Skill
from ..store import Store
from ..store.place import title
from ..store.repository import Listing, Repository


@dataclass(frozen=True, slots=True)
class Shelves:
    """The library at one moment."""

    skills: tuple[Skill, ...]
    #: Name -> name of the folder.
    folders: Mapping[str, str]
    protection: Mapping[str, Protection]

    @classmethod
    def take(cls, repository: Repository, store: Store, *, user_skills: bool) -> Shelves:
        """What the folders hold now."""
        library = repository.library()
        published = {pointer.skill for pointer in store.pointers()}
        protection = {listing.name: _class(listing, store, published, user_skills) for listing in library.index}
        folders = {listing.name: listing.folder.name for listing in library.index}
        return cls(library.skills, folders, protection)

    def shown(self, used: Mapping[str, str]) -> tuple[ShownSkill, ...]:
        """The skills as the Reviewer sees them; `used` are those that the agent loaded."""
        return tuple(
            ShownSkill.of(
                skill,
                loaded=skill.name in used,
                read_only=refusal(self.protection[skill.name], "update", "reviewer"),
            )
            for skill in self.skills
        )

    def known(self) -> tuple[Known, ...]:
        """The skills as the Reconciler compares with them."""
        return tuple(
            Known(
                skill.name,
                "\n".join(text for name, text in skill.components.items() if name != "description"),
                title(skill),
            )
            for skill in self.skills
        )

    def shelf(self, shown: Mapping[str, str], used: Mapping[str, str]) -> Shelf:
        """The skills as changes are made to them."""
        return Shelf(self.skills, shown, tuple(used), self.protection)


def _class(listing: Listing, store: Store, published: set[str], user_skills: bool) -> Protection:
    if not listing.managed:
        return Protection.EXTERNAL
    try:
        store.require_writable(listing.folder.name)
    except StoreError:
        return Protection.PINNED
    if listing.folder.name in published or user_skills:
        return Protection.MANAGED
    return Protection.USER


def scope_of_key(key: str, app: str, user: str) -> Scope:
    """The scope with this partition key, given the names that it came from."""
    return next((one for one in (Scope(app, user), Scope(app)) if one.key == key), Scope())
