"""What every command works with: its arguments, the project, where to print, and how the store is opened."""

from __future__ import annotations

import argparse
import getpass
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from ..core.errors import ConfigError, StoreError
from ..core.scopes import Scope
from ..report.text import visible, wrap
from ..store.committed import EXPOSURE_FILE, read_openings
from .screen import Screen

if TYPE_CHECKING:
    from ..project import Project
    from ..store import Store


@dataclass(frozen=True, slots=True)
class Context:
    """One call of the command line."""

    arguments: argparse.Namespace
    project: Project
    #: The partition that was asked for.
    scope: Scope
    screen: Screen
    notes: Screen
    clock: Callable[[], datetime]

    @property
    def home(self) -> Path:
        """The folder of the store."""
        return self.project.home

    @property
    def skills(self) -> Path:
        """The folder of the active skills, of the partition that was asked for."""
        return self.project.skills.joinpath(*self.scope.parts)

    @property
    def has_store(self) -> bool:
        """Whether there is a store to look at; looking must not make one."""
        from ..store import Store

        return Store.exists(self.home, self.project.store)

    @contextmanager
    def store(self, *, make: bool = False) -> Iterator[Store]:
        """The project's store. Raises StoreError when there is none, unless it may be made."""
        from ..store import Store

        if not make and not self.has_store:
            raise StoreError(f"there is no store in {shown(self.home)}; pytest --evolve makes one.")
        with Store.open(
            self.home,
            skills=self.project.skills,
            url=self.project.store,
            scope=self.scope,
            gates=self.project.gates.gates(),
            protected=self.project.protected,
            clock=self.clock,
        ) as store:
            for notice in store.notices:
                self.notes.lines(wrap(visible(notice), self.notes.width, first="note: "))
            store.enter_openings(read_openings(self.exposure_file))
            yield store

    @property
    def exposure_file(self) -> Path:
        """The committed part of the exposure ledger."""
        return self.project.root / EXPOSURE_FILE

    @contextmanager
    def committing(self) -> Iterator[None]:
        """While a committed file is changed: another process that does the same waits."""
        from ..core.locks import file_lock

        with file_lock(self.home / "committed.lock", busy="another skillevo command is writing the committed files"):
            yield

    @property
    def actor(self) -> str:
        """Who decides."""
        if self.arguments.actor:
            return str(self.arguments.actor)
        try:
            return getpass.getuser()
        except (OSError, KeyError, ImportError):
            # A container may run under a number that has no name.
            return "cli-user"


def scope_of(arguments: argparse.Namespace) -> Scope:
    """The partition that --app and --user choose. Raises ConfigError for a user of no app."""
    app, user = (arguments.app or "").strip(), (arguments.user or "").strip()
    if user and not app:
        raise ConfigError("--user needs --app: users belong to an app")
    return Scope(app, user)


def shown(path: Path) -> str:
    """A path as people write it: relative to where they are, if that is shorter."""
    try:
        relative = os.path.relpath(path)
    except ValueError:
        return str(path)
    return relative if len(relative) < len(str(path)) and not relative.startswith("..") else str(path)
