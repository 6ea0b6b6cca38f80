"""Whose skills these are: everyone's, those of one app, or those of one user of an app (spec/online-revisions.md 10).

A scope owns one partition: a folder below the skills folder, and the rows of the store under the same key. No value can
name another one's partition: what is not a plain lower-case name is hashed, what looks like a hash as well, and the
containers begin with a character that no folder name of a skill may begin with.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from .canonical import digest
from .errors import ConfigError

#: First character of the folders that hold partitions.
CONTAINER: Final = "@"
_APPS: Final = f"{CONTAINER}apps"
_USERS: Final = f"{CONTAINER}users"

_HASHED: Final = "id-"
#: Hex digits. Whoever chooses a name would have to find a second preimage of 64 bits to meet another partition.
_DIGITS: Final = 16
_HASH: Final = re.compile(rf"{_HASHED}[0-9a-f]{{{_DIGITS}}}")
_PLAIN: Final = re.compile(r"[a-z0-9._-]{1,128}")
#: Names that Windows gives to devices, also with a suffix.
_DEVICE: Final = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")


class ScopeMode(StrEnum):
    """With whom what was learned is shared."""

    NONE = "none"
    APP = "app"
    USER = "user"

    @classmethod
    def parse(cls, text: str) -> ScopeMode:
        """The mode of that name; blank is none. Raises ConfigError: a typo must not share what is private."""
        wanted = text.strip().lower() or cls.NONE.value
        if wanted not in set(cls):
            raise ConfigError(f"the scope mode {text!r} is none of {', '.join(cls)}")
        return cls(wanted)


@dataclass(frozen=True, slots=True)
class Scope:
    """One partition. Without app and user it is the one that everybody shares. Made by `none`, `of` and `resolve`."""

    app: str = ""
    user: str = ""

    @classmethod
    def of(cls, mode: ScopeMode, app: str = "", user: str = "") -> Scope:
        """The scope of an app, or of a user of an app, by that mode. Raises ConfigError for a part that is missing."""
        app, user = app.strip(), user.strip()
        if mode is ScopeMode.NONE:
            return NO_SCOPE
        if not app:
            raise ConfigError(f"scope mode {mode} needs the name of an app")
        if mode is ScopeMode.APP:
            return cls(app)
        if not user:
            raise ConfigError("scope mode user needs the name of a user")
        return cls(app, user)

    @property
    def parts(self) -> tuple[str, ...]:
        """The folders from the skills folder down to the partition's own; empty for the shared one."""
        if not self.app:
            return ()
        if not self.user:
            return (_APPS, component(self.app))
        return (_USERS, component(self.app), component(self.user))

    @property
    def key(self) -> str:
        """The partition's key in the store: its folders joined by slashes."""
        return "/".join(self.parts)

    @property
    def visible(self) -> tuple[Scope, ...]:
        """What may be read from here, nearest first: the own partition, that of the app, and the shared one."""
        return tuple(dict.fromkeys([self, Scope(self.app), NO_SCOPE]))

    @property
    def words(self) -> str:
        """The scope as people read it."""
        if not self.app:
            return "shared by all"
        return f"user {self.user} of {self.app}" if self.user else f"app {self.app}"


#: The partition that everybody shares.
NO_SCOPE: Final = Scope()


def visible_keys(key: str) -> tuple[str, ...]:
    """The keys of the partitions that may be read from the one with this key, nearest first (see Scope.visible)."""
    container, *parts = key.split("/")
    app = (f"{_APPS}/{parts[0]}",) if container == _USERS else ()
    return tuple(dict.fromkeys([key, *app, ""]))


def is_key(key: str) -> bool:
    """Whether this can be the key of a partition."""
    container, *parts = key.split("/")
    wanted = {_APPS: 1, _USERS: 2}.get(container)
    return key == "" or (
        len(parts) == wanted and all(part == component(part) or _HASH.fullmatch(part) for part in parts)
    )


def component(value: str) -> str:
    """A folder name for an app or a user: the value itself where it is plain, else a hash of it."""
    text = value.strip()
    literal = (
        _PLAIN.fullmatch(text)
        and ".." not in text
        and not text.endswith(".")
        and not text.startswith(_HASHED)
        and not _DEVICE.fullmatch(text)
    )
    return text if literal else _HASHED + digest(text)[:_DIGITS]


def resolve(mode: ScopeMode, explicit: Scope = NO_SCOPE, session: Scope = NO_SCOPE) -> Scope:
    """The scope of a piece of work: what it names itself, else what its session names, as far as the mode goes.

    Without a mode, an explicit scope is still honoured. Raises ConfigError where the mode asks for more than is known:
    nothing private may end up in the shared partition by accident.
    """
    if mode is ScopeMode.NONE:
        return explicit
    chosen = explicit if explicit != NO_SCOPE else session
    return Scope.of(mode, chosen.app, chosen.user)
