"""Writing a version of a skill into its folder, so that a kill at any moment leaves a whole SKILL.md.

Only the files of the version before and of the version after are touched; whatever else lies in the folder stays.
SKILL.md is written after its supporting files and before stale ones go: it is the point where the new version begins.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Final, TypeAlias

from ..core.errors import StoreError
from ..core.files import TEMP_SUFFIX, atomic_write, sync_folder
from ..core.scopes import CONTAINER
from ..core.skill.folder import MAIN_FILE as MAIN
from .snapshots import Version

#: Permission bits. Whoever may read a file that may be executed may execute it.
_READ: Final = 0o444
_EXECUTE: Final = 0o111

Fault: TypeAlias = Callable[[str], None]
"""Called with the name of each durable step as it is reached; tests end the process there."""


def no_fault(step: str) -> None:
    """What happens at each durable step in earnest: nothing."""


def check_name(name: str) -> None:
    """Raise StoreError for a skill name that is no plain folder name."""
    plain = name.strip() not in {"", ".", ".."} and not any(mark in name for mark in "/\\\0") and name[0] != CONTAINER
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        plain = False
    if not plain:
        raise StoreError(f"{name!r} cannot be the name of a skill folder")


def skill_folder(skills: Path, parts: Sequence[str], name: str) -> Path:
    """The folder of a skill in the partition with these folders.

    Raises StoreError for a name that is no plain folder name, and where a symbolic link stands on the way.
    """
    check_name(name)
    folder = skills
    for part in [*parts, name]:
        folder = folder / part
        if folder.is_symlink():
            raise StoreError(f"{folder} is a symbolic link; skillevo writes only to real folders under {skills}")
    return folder


def check_paths(folder: Path, paths: Iterable[str]) -> None:
    """Raise StoreError when writing one of the paths would leave the folder or follow a symbolic link."""
    every = sorted(set(paths))
    for path in every:
        if not _is_inside(path):
            raise StoreError(f"{path!r} lies outside of {folder}; nothing was written")
        target = folder / path
        for place in (folder, *(folder / parent for parent in reversed(PurePosixPath(path).parents)), target):
            if place.is_symlink():
                raise StoreError(f"{place} is a symbolic link; skillevo replaces real files only. Nothing was written.")
        becomes_file = any(other.startswith(f"{path}/") for other in every)
        if target.exists() and not target.is_file() and not becomes_file:
            raise StoreError(f"{target} is not a file; nothing was written")


def read_file(folder: Path, path: str) -> bytes | None:
    """The bytes of a file of the folder, None when there is no such file. Raises OSError."""
    try:
        return (folder / path).read_bytes()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None


def executables(folder: Path, paths: Iterable[str]) -> tuple[str, ...] | None:
    """Those of the files that may be executed; None where the system knows no such thing, or there is no folder."""
    if os.name != "posix" or not folder.is_dir():
        return None
    return tuple(path for path in sorted(paths) if os.access(folder / path, os.F_OK) and _mode(folder / path) & 0o100)


def publish(folder: Path, before: Version, after: Version, fault: Fault = no_fault) -> None:
    """Make the folder hold `after` where it held `before`, or a mixture of both. Raises OSError and StoreError."""
    check_paths(folder, [*before.files, *after.files])
    _sweep(folder, [*before.files, *after.files])
    stale = [path for path in sorted(before.files) if path not in after.files]
    for path in stale:
        # A file that must become a folder, or the other way round, has to go first.
        if any(other.startswith(f"{path}/") or path.startswith(f"{other}/") for other in after.files):
            _remove(folder, path)
    for path in sorted(after.files, key=lambda path: (path == MAIN, path)):
        fault(f"before writing {path}")
        _write(folder, path, after.files[path])
        if after.executable is not None:
            _set_executable(folder / path, path in after.executable)
        fault(f"after writing {path}")
    for path in sorted(stale, key=lambda path: (path != MAIN, path)):
        fault(f"before removing {path}")
        _remove(folder, path)
        fault(f"after removing {path}")


def _is_inside(path: str) -> bool:
    parts = path.split("/")
    return not (
        {"", ".", ".."}.intersection(parts)
        or "\\" in path
        or "\0" in path
        or Path(path).is_absolute()
        or Path(path).drive
        or path.endswith(TEMP_SUFFIX)
    )


def _write(folder: Path, path: str, content: bytes) -> None:
    if read_file(folder, path) == content:
        return
    target = folder / path
    folder.parent.mkdir(parents=True, exist_ok=True)
    for parent in [*reversed(target.relative_to(folder.parent).parents)][1:]:
        made = folder.parent / parent
        if not made.is_dir():
            made.mkdir()
            sync_folder(made.parent)
    atomic_write(target, content)


def _mode(path: Path) -> int:
    return path.stat().st_mode & 0o7777


def _set_executable(path: Path, wanted: bool) -> None:
    if os.name != "posix":
        return
    mode = _mode(path)
    new = mode | (mode & _READ) >> 2 if wanted else mode & ~_EXECUTE
    if new != mode:
        path.chmod(new)


def _remove(folder: Path, path: str) -> None:
    target = folder / path
    if read_file(folder, path) is not None:
        target.unlink()
        sync_folder(target.parent)
    for parent in target.relative_to(folder.parent).parents:
        place = folder.parent / parent
        if place == folder.parent or not place.is_dir() or any(place.iterdir()):
            return
        place.rmdir()
        sync_folder(place.parent)


def _sweep(folder: Path, paths: Iterable[str]) -> None:
    """Remove the temporary files that a killed writer left beside these files."""
    for place in sorted({(folder / path).parent for path in paths}):
        if place.is_dir():
            for entry in os.scandir(place):
                if entry.name.startswith(".") and entry.name.endswith(TEMP_SUFFIX):
                    Path(entry.path).unlink(missing_ok=True)
