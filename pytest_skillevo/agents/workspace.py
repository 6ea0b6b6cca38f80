"""A folder for one rollout: what an agent may write there is declared, and everything else that changes is a breach.

Nothing needs to be sealed: files are put in through the methods here, so every other change is the agent's
(spec/wikiskill.md 4, with the better boundary of its cases: no directory is exempt unless declared, links and modes
are seen).
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

from ..core.artifacts import Kind, check_artifact
from ..core.errors import ConfigError
from ..core.skill import Skill
from ..core.skill.folder import MAIN_FILE, check_files

#: What is looked at; an agent that leaves more behind has breached its bounds.
MAX_ENTRIES: Final = 20_000
MAX_BYTES: Final = 512 * 1024 * 1024
#: Breaches that are named; more are counted.
NAMED: Final = 20
_BLOCK: Final = 1 << 20
_MODE: Final = 0o7777


@dataclass(frozen=True, slots=True)
class Entry:
    """What lies at a path: "file", "folder", "symlink" or "special"."""

    kind: str
    mode: int
    #: SHA-256 of a file's bytes, or of a link's target; "" for the others.
    sha256: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One path that is not what it was. `what`: "added", "removed", "edited", "mode", "symlink" or "special"."""

    path: str
    what: str
    permitted: bool

    def __str__(self) -> str:
        """One line that steers no terminal, whatever the agent called its file."""
        return f"{self.path if self.path.isprintable() else ascii(self.path)} ({self.what})"


class Workspace:
    """A fresh folder. `root` is its absolute path; close it, or use it as a context, to remove it."""

    def __init__(self) -> None:
        # Resolved, so that a temporary folder behind a link (as on macOS) is the same path for agent and check. Outside
        # of the project: no parent folder holds cases or answers.
        self.home = Path(tempfile.mkdtemp(prefix="skillevo-")).resolve()
        self.root = self.home / "work"
        self.root.mkdir()
        self._expected: dict[str, Entry] = {}
        self._allowed: list[str] = []

    def write(self, path: str, content: str | bytes) -> Path:
        """Put a file in, making its folders. Text is UTF-8. Raises ConfigError for a path that leads outside."""
        data = content.encode("utf-8") if isinstance(content, str) else content
        check_files({path: data}, "workspace")
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        self._expect(path)
        return target

    def add(self, folder: Path, into: str = "") -> None:
        """Put in a copy of a folder. Raises ConfigError when it holds something other than files and folders."""
        target = self.root / into if into else self.root
        for path, found in sorted(scan(folder).items()):
            if found.kind in ("symlink", "special"):
                raise ConfigError(f"{folder / path}: only files and folders can be put into a workspace")
            place = target / path
            if found.kind == "folder":
                place.mkdir(parents=True, exist_ok=True)
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(folder / path, place)
                place.chmod(found.mode)
            self._expect(place.relative_to(self.root).as_posix())

    def add_skill(self, skill: Skill, into: str = "skills") -> Path:
        """Put in a skill's folder, below `into`; returns it. Raises ConfigError for one that does not exist."""
        if not skill.exists or "/" in skill.name:
            raise ConfigError(f"workspace: {skill.name!r} is no skill that can be put into a folder of its name")
        folder = f"{into.rstrip('/')}/{skill.name}"
        self.write(f"{folder}/{MAIN_FILE}", skill.document)
        for path, data in skill.files.items():
            self.write(f"{folder}/{path}", data)
        return self.root / folder

    def allow(self, *patterns: str) -> None:
        """Let the agent change paths that fit: `*` within one name, `**` across folders; case counts."""
        for pattern in patterns:
            if not pattern or pattern.startswith(("/", "\\")) or ".." in pattern.split("/"):
                raise ConfigError(f"workspace: {pattern!r} is no pattern of paths below the workspace")
        self._allowed += patterns

    def read(self, path: str) -> bytes | None:
        """The bytes of a file that the agent may have written; None where there is no regular file."""
        check_files({path: b""}, "workspace")
        target = self.root
        for part in path.split("/"):
            target = target / part
            if target.is_symlink():
                return None
        return target.read_bytes() if target.is_file() else None

    def check(self, path: str, kind: Kind, expected: Any = None, *, distinct: bool = False) -> str:
        """Check a file that the agent should have written (see core.artifacts); "" when it is as expected."""
        content = self.read(path)
        if kind == "absent" and os.path.lexists(self.root / path):
            content = b""  # whatever stands there, it is there
        why = check_artifact(kind, content, expected, distinct=distinct)
        return f"{path}: {why}" if why else ""

    def changes(self) -> tuple[Change, ...]:
        """What is not as it was put in, by path. Raises nothing: too much to look at is a change of its own."""
        try:
            found = scan(self.root)
        except _TooMuch as error:
            return (Change(str(error), "added", False),)
        except OSError:  # the agent took the folder itself away, or the right to read it
            return (Change(".", "removed", False),)
        changed = []
        for path in sorted(found.keys() | self._expected.keys()):
            before, after = self._expected.get(path), found.get(path)
            what = _difference(before, after)
            if what and not self._made_on_the_way(path, after, found):
                changed.append(Change(path, what, what not in ("symlink", "special") and self._may_change(path)))
        return tuple(changed)

    def breaches(self) -> tuple[Change, ...]:
        """The changes that nothing permits."""
        return tuple(change for change in self.changes() if not change.permitted)

    def close(self) -> None:
        """Remove the folder with all that is in it."""
        shutil.rmtree(self.home, onerror=_make_writable)

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _expect(self, path: str) -> None:
        parts = path.split("/")
        for count in range(1, len(parts) + 1):
            place = "/".join(parts[:count])
            self._expected[place] = entry_of(self.root / place)

    def _may_change(self, path: str) -> bool:
        return any(_compiled(pattern).fullmatch(path) for pattern in self._allowed)

    def _made_on_the_way(self, path: str, after: Entry | None, found: dict[str, Entry]) -> bool:
        """Whether this is a new folder that holds something which may be there."""
        if after is None or after.kind != "folder" or path in self._expected:
            return False
        inside = f"{path}/"
        return any(other.startswith(inside) and self._may_change(other) for other in found)


class _TooMuch(Exception):
    """More than is looked at."""


def scan(root: Path) -> dict[str, Entry]:
    """Everything below a folder, by POSIX relative path; links are seen, never followed.

    A folder below it that cannot be read is "special", as nobody can tell what it hides. Raises OSError where the
    folder itself cannot be read.
    """
    found: dict[str, Entry] = {}
    size = 0
    for path in _walk(root):
        entry = entry_of(path)
        found[path.relative_to(root).as_posix()] = entry
        size += path.lstat().st_size if entry.kind == "file" else 0
        if len(found) > MAX_ENTRIES or size > MAX_BYTES:
            raise _TooMuch(f"more than {MAX_ENTRIES:,} paths or {MAX_BYTES >> 20} MB")
    return found


def same(root: Path, before: dict[str, Entry]) -> bool:
    """Whether everything below a folder is what an earlier scan saw. A folder that is gone is not."""
    try:
        return scan(root) == before
    except (_TooMuch, OSError):
        return False


def _walk(folder: Path) -> Iterator[Path]:
    waiting = [folder]
    while waiting:
        for found in os.scandir(waiting.pop()):
            path = Path(found.path)
            yield path
            if found.is_dir(follow_symlinks=False) and os.access(path, os.R_OK | os.X_OK):
                waiting.append(path)


def entry_of(path: Path) -> Entry:
    """What lies at a path, which must exist; a link is not followed."""
    status = path.lstat()
    mode = status.st_mode & _MODE
    if stat.S_ISLNK(status.st_mode):
        return Entry("symlink", mode, hashlib.sha256(os.fsencode(path.readlink())).hexdigest())
    if stat.S_ISDIR(status.st_mode):
        return Entry("folder" if os.access(path, os.R_OK | os.X_OK) else "special", mode)
    if not stat.S_ISREG(status.st_mode):
        return Entry("special", mode)
    return Entry("file", mode, sha256_of(path))


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    seen = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                seen.update(block)
    except PermissionError:  # made unreadable by the agent: certainly another file than before
        return "unreadable"
    return seen.hexdigest()


def _difference(before: Entry | None, after: Entry | None) -> str:
    if before == after:
        return ""
    if after is not None and after.kind in ("symlink", "special"):
        return after.kind
    if before is None:
        return "added"
    if after is None:
        return "removed"
    return "mode" if (before.kind, before.sha256) == (after.kind, after.sha256) else "edited"


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str]:
    parts = {"**/": "(?:[^/]+/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    tokens = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    return re.compile("".join(parts.get(token, re.escape(token)) for token in tokens), re.DOTALL)


def _make_writable(remove: object, path: str, _: object) -> None:
    """An agent may have left folders that cannot be written: make them so, once, and go on."""
    try:
        Path(Path(path).parent).chmod(0o700)
        Path(path).chmod(0o700, follow_symlinks=False) if os.chmod in os.supports_follow_symlinks else None
        shutil.rmtree(path, ignore_errors=True) if Path(path).is_dir() else Path(path).unlink(missing_ok=True)
    except OSError:
        return
