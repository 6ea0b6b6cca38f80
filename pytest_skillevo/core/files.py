"""Atomic writes: a file is either the old one or the new one, also after a kill or a power cut."""

from __future__ import annotations

import os
import secrets
from pathlib import Path
from typing import Final

#: Suffix of temporary files. One that a kill left behind is no content: readers of folders leave it out.
TEMP_SUFFIX: Final = ".skillevo-tmp"


def atomic_write(path: Path, data: bytes) -> None:
    """Replace `path` by a file with these bytes; the permission bits of an existing file are kept.

    The bytes go to a temporary file in the same folder and are on disk before the rename. A symbolic link at `path`
    is replaced, never followed. The folder must exist. Raises OSError; the old file is then untouched.
    """
    temp = path.with_name(f".{secrets.token_hex(8)}{TEMP_SUFFIX}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temp, flags, 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            _keep_mode(path, temp)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temp.replace(path)
    except BaseException:
        temp.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Make renames in the folder last. Does nothing where folders cannot be opened (Windows)."""
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _keep_mode(path: Path, temp: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    if path.is_file() and not path.is_symlink():
        temp.chmod(mode & 0o7777)
