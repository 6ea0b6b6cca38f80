"""The version of the evaluator: a digest over every file that decides scores."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pytest

from ..core.canonical import digest, digest_json
from ..core.errors import ConfigError
from ..core.records import Case
from ..families.registry import find_family

_IGNORED = frozenset({"__pycache__"})


def evaluator_files(cases: Iterable[tuple[Case, pytest.Item]], root: Path, patterns: Sequence[str]) -> list[Path]:
    """Test modules, the conftest files above them, all files of their families, and what the globs below root name.

    Raises ConfigError for a glob that matches nothing: a typo there would leave a file unwatched.
    """
    found: set[Path] = set()
    for path, family in sorted({(item.path, case.family) for case, item in cases}, key=str):
        found.add(path)
        found.update(_conftests(path, root))
        if family is not None:
            found.update(_family_files(family, path))
    for pattern in patterns:
        if Path(pattern).is_absolute() or ".." in Path(pattern).parts:
            raise ConfigError(f"skillevo_evaluator_files: {pattern!r} must be a glob below {root.name}/, without ..")
        matched = [path for path in root.glob(pattern) if path.is_file()]
        if not matched:
            raise ConfigError(f"skillevo_evaluator_files: {pattern!r} matches no file below {root.name}/")
        found.update(matched)
    return sorted(found)


def _conftests(path: Path, root: Path) -> Iterator[Path]:
    for folder in path.parents:
        if (folder / "conftest.py").is_file():
            yield folder / "conftest.py"
        if folder == root:
            return


def _family_files(name: str, start: Path) -> list[Path]:
    try:
        folder = find_family(name, start).folder
    except ConfigError:  # a family marker may name a group of tests that is no family of the engine
        return []
    if folder is None:
        return []
    return [path for path in folder.rglob("*") if path.is_file() and _IGNORED.isdisjoint(path.parts)]


def evaluator_version(files: Iterable[Path], version: str) -> str:
    """Digest of our version and of the files' bytes; names do not count, so that a checkout may lie anywhere.

    Raises ConfigError when one of the files is gone.
    """
    try:
        return digest_json([version, sorted(digest(path.read_bytes()) for path in files)])
    except OSError as error:
        raise ConfigError(f"a file that decides scores cannot be read any more: {error}") from None
