"""The version of the evaluator: a digest over every file that decides scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from ..core.canonical import digest, digest_json
from ..core.errors import ConfigError


def evaluator_files(items: Iterable[pytest.Item], root: Path, patterns: Sequence[str]) -> list[Path]:
    """Test modules, the conftest files above them, the family files beside them, and what the globs name.

    Raises ConfigError for a glob that matches nothing: a typo there would leave a file unwatched.
    """
    found: set[Path] = set()
    for path in {item.path for item in items}:
        found.add(path)
        for folder in path.parents:
            if (folder / "conftest.py").is_file():
                found.add(folder / "conftest.py")
            if folder == root:
                break
        if (path.parent / "family.py").is_file():
            found.update(path.parent.glob("*.py"))
    for pattern in patterns:
        matched = [path for path in root.glob(pattern) if path.is_file()]
        if not matched:
            raise ConfigError(f"skillevo_evaluator_files: {pattern!r} matches no file below {root.name}/")
        found.update(matched)
    return sorted(found)


def evaluator_version(files: Iterable[Path], version: str) -> str:
    """Digest of our version and of the files' bytes; names do not count, so that a checkout may lie anywhere."""
    return digest_json([version, sorted(digest(path.read_bytes()) for path in files)])
