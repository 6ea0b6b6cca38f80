"""Locks between processes that the operating system takes back when their holder dies.

The reference's lock is a directory, which a crash leaves behind for ever (spec/online-revisions.md 8). These are locks
on an open file: nothing is left to clean up, and a dead process blocks nobody. They are for local disks; network file
systems keep them to varying degrees.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from .errors import StoreError

#: Seconds. The longest thing done under a lock is writing the files of one skill.
WAIT: Final = 30.0
_POLL: Final = 0.01


class LockBusy(StoreError):
    """Another live process holds the lock."""


if sys.platform == "win32":
    import msvcrt

    def _try_lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


@contextmanager
def file_lock(path: Path, *, wait: float = WAIT, busy: str = "") -> Iterator[None]:
    """Hold the lock on a file (made if missing), against other processes and other threads.

    Raises LockBusy, with the sentence `busy`, when a live process does not let go within `wait` seconds, and StoreError
    when the file cannot be opened.
    """
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o666)
    except OSError as error:
        raise StoreError(f"{path} cannot be locked: {error.strerror}") from None
    try:
        _acquire(handle, path, wait, busy)
        yield
    finally:
        os.close(handle)


def _acquire(handle: int, path: Path, wait: float, busy: str) -> None:
    deadline = time.monotonic() + wait
    try:
        while not _try_lock(handle):
            if time.monotonic() >= deadline:
                raise LockBusy(busy or f"another process holds {path}; try again when it has finished.")
            time.sleep(_POLL)
    except OSError as error:
        raise StoreError(f"{path} cannot be locked: {error.strerror}") from None
