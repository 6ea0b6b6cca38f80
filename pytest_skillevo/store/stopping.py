"""Requests to stop a running search, from another terminal: a file each in the store's folder.

A request belongs to the run that hears it: hearing it removes it, and a run that begins removes what an earlier one
left.
"""

from __future__ import annotations

from pathlib import Path

from ..core.errors import StoreError


class StopRequests:
    """The requests of one store's folder."""

    def __init__(self, home: Path) -> None:
        self._folder = home / "stop"

    def ask(self, experiment: str) -> None:
        """Ask the run of this experiment to stop. Raises StoreError when that cannot be written."""
        try:
            self._folder.mkdir(exist_ok=True)
            (self._folder / experiment).touch()
        except OSError as error:
            raise StoreError(f"{self._folder} cannot be written: {error.strerror}") from None

    def take(self, experiment: str) -> bool:
        """Whether somebody has asked since the last call."""
        try:
            (self._folder / experiment).unlink()
        except OSError:  # nobody asked, or the folder cannot be changed and would be asked for ever
            return False
        return True
