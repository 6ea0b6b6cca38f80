"""A skill's folder on disk: read it whole and bounded, write it file by file, never through a symbolic link."""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..errors import SkillError
from ..files import TEMP_SUFFIX, atomic_write
from ..suggest import did_you_mean

MAIN_FILE: Final = "SKILL.md"
#: Bytes of a whole skill folder. A skill is text for a context window; far beyond that something else was copied in.
MAX_BYTES: Final = 10 * 1024 * 1024
MAX_FILES: Final = 2000
_DRIVE: Final = re.compile("[A-Za-z]:")
#: What tools leave behind and no skill is made of; it would change the digest from run to run.
_DEBRIS: Final = frozenset({".git", ".hg", ".svn", "__pycache__", ".DS_Store", "Thumbs.db"})


def read_folder(folder: Path) -> dict[str, bytes]:
    """All files of the folder by POSIX relative path, SKILL.md first, the others sorted.

    Version-control folders, bytecode caches and left-over temporary files are left out. Raises SkillError when the
    folder or SKILL.md is missing, when something cannot be read, is no regular file, or links to the outside, and when
    there is more than MAX_BYTES or MAX_FILES.
    """
    try:
        if not folder.is_dir():
            raise SkillError(_no_folder(folder))
        names = sorted(path.name for path in folder.iterdir())
        if MAIN_FILE not in names or (folder / MAIN_FILE).is_dir():  # before all else is read: it may be "/"
            raise SkillError(_no_main_file(folder, names))
        return _contents(folder, _paths(folder))
    except OSError as error:
        raise SkillError(f"{error.filename or folder}: cannot be read: {error.strerror}") from error


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write the files, SKILL.md last, each atomically; equal files are not touched and foreign ones stay.

    Raises SkillError when a path on the way is a symbolic link or when writing fails.
    """
    try:
        _refuse_link(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for path in sorted(files, key=lambda path: (path == MAIN_FILE, path)):
            _write(folder, path, files[path])
    except OSError as error:
        raise SkillError(f"{error.filename or folder}: cannot be written: {error.strerror}") from error


def check_files(files: Mapping[str, bytes], where: str) -> None:
    """Raise SkillError unless every path stays inside the folder, names one file, and the sizes are within bounds."""
    for path in files:
        parts = path.split("/")
        strange = "\\" in path or "\0" in path or not _encodable(path) or _DRIVE.match(path)
        if strange or any(part in ("", ".", "..") for part in parts):
            raise SkillError(f"{where}: {path!r} is no relative path with forward slashes inside the skill's folder")
        folders = ("/".join(parts[:n]) for n in range(1, len(parts)))
        if inside := next((folder for folder in folders if folder in files), None):
            raise SkillError(f"{where}: {inside!r} is a file and cannot also be the folder of {path!r}")
    _check_size(where, len(files), sum(map(len, files.values())))


def _check_size(where: Path | str, count: int, size: int) -> None:
    if count > MAX_FILES:
        raise SkillError(
            f"{where}: a skill may hold {MAX_FILES} files, this one holds more: move data out of the folder"
        )
    if size > MAX_BYTES:
        limit = MAX_BYTES // 1024 // 1024
        raise SkillError(f"{where}: a skill may hold {limit} MB, this one holds more: move data out of the folder")


def _paths(folder: Path) -> dict[str, Path]:
    """The files to read, by POSIX relative path."""
    root = folder.resolve()
    found: dict[str, Path] = {}
    waiting = [folder]
    while waiting:
        for entry in os.scandir(waiting.pop()):
            path = Path(entry.path)
            if entry.name in _DEBRIS or entry.name.endswith(TEMP_SUFFIX):
                continue
            if not _encodable(entry.name):
                raise SkillError(f"{folder}: the file name {entry.name!r} is not valid UTF-8")
            if entry.is_symlink():
                _check_link(path, root)
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
                continue
            if not stat.S_ISREG(path.stat().st_mode):
                raise SkillError(f"{path}: is neither a file nor a folder: a skill cannot hold it")
            found[path.relative_to(folder).as_posix()] = path
            _check_size(folder, len(found), 0)
    return found


def _contents(folder: Path, paths: Mapping[str, Path]) -> dict[str, bytes]:
    contents: dict[str, bytes] = {}
    size = 0
    for name in sorted(paths, key=lambda name: (name != MAIN_FILE, name)):
        with paths[name].open("rb") as file:
            contents[name] = file.read(MAX_BYTES - size + 1)
        size += len(contents[name])
        _check_size(folder, len(contents), size)
    return contents


def _check_link(path: Path, root: Path) -> None:
    try:
        target = path.resolve()
    except (OSError, RuntimeError):  # RuntimeError: a loop of links, before Python 3.13
        raise SkillError(f"{path}: is a symbolic link that leads nowhere") from None
    if not target.is_relative_to(root):
        raise SkillError(
            f"{path}: is a symbolic link to {target}, outside the skill's folder: copy the content instead"
        )
    if not target.exists():
        raise SkillError(f"{path}: is a symbolic link that leads nowhere")
    if target.is_dir():
        raise SkillError(f"{path}: is a symbolic link to a folder: copy the content instead")


def _write(folder: Path, name: str, data: bytes) -> None:
    path = folder
    for part in name.split("/"):
        path.mkdir(exist_ok=True)
        path = path / part
        _refuse_link(path)
    if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data:
        return
    atomic_write(path, data)


def _refuse_link(path: Path) -> None:
    if path.is_symlink():
        raise SkillError(f"{path}: is a symbolic link, and nothing is written through one: name its target instead")


def _encodable(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _no_folder(folder: Path) -> str:
    if folder.exists():
        return f"{folder}: is a file; a skill is named by its folder"
    try:
        siblings = sorted(entry.name for entry in os.scandir(folder.parent) if entry.is_dir())
    except OSError:
        siblings = []
    return f"{folder}: there is no such skill folder. {did_you_mean(folder.name, siblings)}".rstrip()


def _no_main_file(folder: Path, names: list[str]) -> str:
    by_lower = {name.lower(): name for name in names}
    near = difflib.get_close_matches(MAIN_FILE.lower(), by_lower, n=1, cutoff=0.7)
    inside = next((name for name in names if (folder / name / MAIN_FILE).is_file()), None)
    hint = ""
    if near:
        hint = f" There is '{by_lower[near[0]]}': rename it to '{MAIN_FILE}'."
    elif inside is not None:
        hint = f" Folders in it have one: name one of them, such as '{folder / inside}'."
    return f"{folder}: the folder has no {MAIN_FILE}.{hint}"
