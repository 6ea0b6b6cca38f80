"""What a merge gate compares with: a git ref, a folder, or a revision, laid out as plain folders.

A git ref is laid out at its merge base with HEAD, whole, in a temporary folder: a change is judged by the tests,
settings and marks that it did not write itself. Nothing that a person types becomes an option or a shell word.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from ..core.errors import ConfigError, StoreError
from ..core.skill.folder import MAIN_FILE
from ..report.text import visible

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from ..store import Store

Kind: TypeAlias = Literal["git", "path", "revision"]


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference as folders."""

    #: What was asked for, and what it is, for a person.
    given: str
    kind: Kind
    label: str
    #: The folder of its skills.
    skills: Path
    #: The tree that holds its tests; None when it brings none, and the working tree's tests judge.
    tree: Path | None
    #: The only skill it speaks of; None for all.
    only: str | None = None
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """The project that a reference is looked up for: where pytest was started, its ini folder, its skills."""

    start: Path
    root: Path
    skills: Path
    store: Callable[[], AbstractContextManager[Store]]


@contextmanager
def laid_out(given: str, place: Place) -> Iterator[Reference]:
    """The reference, for as long as the block runs. Raises ConfigError that says what was looked for."""
    if not given.strip() or given.startswith("-") or any(ord(char) < 32 or ord(char) == 127 for char in given):
        raise ConfigError(f"--evolve-baseline={visible(given)}: not a git ref, a folder or a revision id")
    with tempfile.TemporaryDirectory(prefix="skillevo-gate-", ignore_cleanup_errors=True) as temp:
        folder = place.start / given
        top = repository(place.root)
        commit = None if top is None else _commit(top, given)
        if commit is not None and top is not None:
            if folder.is_dir():
                raise ConfigError(
                    f"--evolve-baseline={given}: both a git ref and a folder; write refs/heads/{given} or ./{given}"
                )
            yield _from_git(given, commit, top, place, Path(temp))
        elif folder.is_dir():
            yield _from_folder(given, folder, place)
        elif given.startswith("rv-"):
            yield _from_revision(given, place, Path(temp))
        else:
            why = "no git repository is here" if top is None else "git knows no such commit (fetch it first?)"
            raise ConfigError(
                f"--evolve-baseline={visible(given)}: {why}, there is no such folder, and revision ids begin with rv-"
            )


def repository(folder: Path) -> Path | None:
    """The top folder of the git repository around a folder; None without one, or without git."""
    found = _git(folder, "rev-parse", "--show-toplevel", check=False)
    return Path(found).resolve() if found else None


def head(folder: Path) -> str | None:
    """The commit that is checked out; None when there is none."""
    return _git(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}", check=False) or None


def _commit(top: Path, given: str) -> str | None:
    spec = f"{given}^{{commit}}"
    return _git(top, "rev-parse", "--verify", "--quiet", "--end-of-options", spec, check=False) or None


def _from_git(given: str, commit: str, top: Path, place: Place, temp: Path) -> Reference:
    base = _git(top, "merge-base", "HEAD", commit, check=False)
    if not base:
        raise ConfigError(
            f"--evolve-baseline={given}: HEAD and {given} have no commit in common here; in a shallow clone, fetch the "
            "whole history (actions/checkout: fetch-depth: 0)"
        )
    tree = temp / "tree"
    tree.mkdir()
    # An index of its own leaves the repository's alone; unlike git archive, it heeds no export-ignore.
    own_index = {"GIT_INDEX_FILE": str(temp / "index")}
    _git(top, "read-tree", base, more=own_index)
    _git(top, "checkout-index", "--all", "--force", f"--prefix={tree}/", more=own_index)
    skills = tree / _inside(place.skills, top)
    _refuse_submodules(top, base, skills.relative_to(tree).as_posix())
    _refuse_ways_out(skills, tree)
    short = base[:8]
    label = f"{given} ({short})" if base == commit else f"merge base with {given} ({short})"
    return Reference(given, "git", label, skills, tree, commit=base)


def _refuse_submodules(top: Path, commit: str, skills: str) -> None:
    """Raise ConfigError when skills are in a submodule: the commit does not hold them, and they would look new."""
    entries = _git(top, "ls-tree", "-r", "-z", commit).split("\0")
    for entry in entries:
        about, _, path = entry.partition("\t")
        if about.startswith("160000 ") and (f"{skills}/".startswith(f"{path}/") or path.startswith(f"{skills}/")):
            raise ConfigError(
                f"{visible(path)} is a git submodule, so the reference does not hold its skills; run the gate in that "
                "repository, or give a folder with the earlier skills as --evolve-baseline"
            )


def _refuse_ways_out(skills: Path, tree: Path) -> None:
    """Raise ConfigError for a link out of the tree: both versions would be read from the same place and look equal."""
    inside = tree.resolve()
    found = [skills, *skills.iterdir()] if skills.is_dir() else [skills]
    for folder in found:
        paths = [folder, *(folder.rglob("*") if folder != skills and folder.is_dir() else ())]
        for path in paths:
            if not path.resolve().is_relative_to(inside):
                name = visible(path.relative_to(tree).as_posix())
                raise ConfigError(f"{name} is a link out of the repository, to a place that has no earlier version")


def _inside(path: Path, top: Path) -> Path:
    try:
        return path.resolve().relative_to(top)
    except ValueError:
        raise ConfigError(
            f"{path} is outside of the git repository {top}, so it has no earlier version there"
        ) from None


def _from_folder(given: str, folder: Path, place: Place) -> Reference:
    if (folder / MAIN_FILE).is_file():
        return Reference(given, "path", f"folder {given}", folder.parent, None, only=folder.name)
    inside = folder / place.skills.relative_to(place.root) if place.skills.is_relative_to(place.root) else None
    if inside is not None and inside.is_dir():
        return Reference(given, "path", f"project {given}", inside, folder)
    if any((child / MAIN_FILE).is_file() for child in folder.iterdir()):
        return Reference(given, "path", f"skills in {given}", folder, None)
    raise ConfigError(f"--evolve-baseline={given}: neither a skill, nor a folder of skills, nor a project with skills")


def _from_revision(given: str, place: Place, temp: Path) -> Reference:
    try:
        with place.store() as store:
            revision = store.revision(given)
            skill = store.skill_of(revision)
    except StoreError as error:
        raise ConfigError(f"--evolve-baseline={given}: {error}") from None
    skill.write(temp / revision.skill)
    return Reference(given, "revision", f"revision {revision.id}", temp, None, only=revision.skill)


def _git(folder: Path, *arguments: str, check: bool = True, more: Mapping[str, str] | None = None) -> str:
    """The output of a git command without its last line end; empty where it may fail and does.

    Raises ConfigError. Variables that point git to another repository or index, as in a hook, are left out.
    """
    foreign = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX")
    environment = {name: value for name, value in os.environ.items() if name not in foreign}
    try:
        done = subprocess.run(
            ["git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", *arguments],
            cwd=folder,
            env={**environment, "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", **(more or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        if not check:
            return ""
        raise ConfigError(f"git cannot be run: {error.strerror or error}") from None
    if done.returncode:
        if not check:
            return ""
        told = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ConfigError(f"git {arguments[0]} failed: {visible(told[-1]) if told else 'no reason given'}")
    return done.stdout.decode("utf-8", "surrogateescape").rstrip("\n")
