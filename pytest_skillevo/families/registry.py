"""Finding families and handing their cases to pytest: `cases("recipe")`.

A family is found by entry point (group `pytest_skillevo.families`), else in the nearest `family.py` above the test.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, Final, cast

from ..core.canonical import digest
from ..core.errors import ConfigError
from ..core.protocols import Behaviour
from ..core.records import SPLITS, Split, Task
from ..core.suggest import did_you_mean
from .declared import first_problem
from .guarded import guarded
from .scenario import Scenario
from .spec import POLICIES, PROFILES, FamilySpec, Policy, Profile
from .tasks import make_task

GROUP: Final = "pytest_skillevo.families"
FILE: Final = "family.py"


def cases(
    family: str,
    *,
    split: Split | None = None,
    levels: Sequence[str] | None = None,
    profile: Profile | None = None,
    faults: bool = True,
    policy: Policy = "by_world",
    start: Path | None = None,
) -> list[Any]:
    """The cases of a family as pytest params, with marks for split, family, level and critical.

    `split` and `levels` narrow the selection; `faults=False` gives the fault-free twins; `profile` is "lean",
    "standard" or "original". With the policy "by_level" easy levels are feedback, the middle ones validation, hard ones
    holdout. `family.py` is looked for from the file `start`, by default the calling test file. Raises ConfigError for a
    name that nothing has.
    """
    import pytest  # only here: the engine itself works without pytest

    spec = find_family(family, start if start is not None else _caller())
    params = []
    for scenario in scenarios(spec, split=split, levels=levels, profile=profile, faults=faults, policy=policy):
        task = make_task(scenario, policy)
        marks = [pytest.mark.split(scenario.split), pytest.mark.family(spec.name, level=scenario.level)]
        if task.critical:
            marks.append(pytest.mark.critical)
        params.append(pytest.param(task, id=task.id, marks=marks))
    return params


def _caller() -> Path:
    return Path(sys._getframe(2).f_code.co_filename)


def scenarios(
    spec: FamilySpec,
    *,
    split: Split | None = None,
    levels: Sequence[str] | None = None,
    profile: Profile | None = None,
    faults: bool = True,
    policy: Policy = "by_world",
) -> Iterator[Scenario]:
    """The scenarios behind `cases`, by split, draw and level in order."""
    chosen = list(spec.levels) if levels is None else list(levels)
    for kind, value, known in (
        *(("level", level, tuple(spec.levels)) for level in chosen),
        ("split", split or SPLITS[0], SPLITS),
        ("profile", profile or spec.profile, PROFILES),
        ("policy", policy, POLICIES),
    ):
        if value not in known:
            raise ConfigError(f"family {spec.name} has no {kind} {value!r}{_hint(str(value), known)}")
    for one in SPLITS if split is None else (split,):
        own, draws = spec.plan(one, policy)
        for draw in range(draws):
            for level in (level for level in chosen if level in own):
                yield Scenario(spec, level, one, draw, profile or spec.profile, faults)


def tasks(spec: FamilySpec, *, split: Split | None = None, levels: Sequence[str] | None = None) -> list[Task]:
    """The tasks of a family without pytest."""
    return [make_task(scenario) for scenario in scenarios(spec, split=split, levels=levels)]


def find_family(name: str, start: Path) -> FamilySpec:
    """The family of that name: an installed one, else that of the nearest `family.py` above a file or folder."""
    known: list[str] = []
    for point in _installed():
        if point.name == name:
            return _checked(point.load(), f"entry point {point.value}")
        known.append(point.name)
    for file in _files_above(start):
        found = load_family(file)
        if found.name == name:
            return found
        known.append(found.name)
    raise ConfigError(
        f"no family {name!r}: neither an entry point in {GROUP} nor a {FILE} above {start} declares it"
        f"{_hint(name, known)}"
    )


def families(start: Path) -> Iterator[FamilySpec]:
    """The families that a file can see: installed ones by name, then each `family.py` above it, nearest first."""
    for point in _installed():
        yield _checked(point.load(), f"entry point {point.value}")
    for file in _files_above(start):
        yield load_family(file)


def _installed() -> list[EntryPoint]:
    return sorted(entry_points(group=GROUP), key=lambda point: point.name)


def behaviours(start: Path) -> list[Behaviour]:
    """How the simulated model solves the tasks of the families that a file can see."""
    return [found for found in map(load_behaviour, families(start)) if found is not None]


def _files_above(start: Path) -> Iterator[Path]:
    place = start.absolute()
    for folder in (place, *place.parents) if place.is_dir() else place.parents:
        if (folder / FILE).is_file():
            yield folder / FILE


def _hint(name: str, known: Sequence[str]) -> str:
    if question := did_you_mean(name, known):
        return f". {question}"
    return f". Known: {', '.join(known)}." if known else ""


@cache
def load_family(file: Path) -> FamilySpec:
    """The FAMILY that a declaration file defines; loaded once. Raises ConfigError when it defines none."""
    return _checked(getattr(_load(file), "FAMILY", None), str(file))


def _checked(value: Any, where: str) -> FamilySpec:
    if not isinstance(value, FamilySpec):
        raise ConfigError(f"{where} must define FAMILY, a FamilySpec, not {type(value).__name__}")
    if problem := first_problem(value):
        raise ConfigError(f"{where}: {problem}")
    return guarded(value)


def load_behaviour(spec: FamilySpec) -> Behaviour | None:
    """How the simulated model solves the family's tasks, or None when the family brings nothing for it."""
    if spec.behaviour is None or spec.folder is None:
        return None
    file = spec.folder / spec.behaviour
    if not file.is_file():
        raise ConfigError(f"family {spec.name} names the behaviour {file}, which does not exist")
    behaviour = getattr(_load(file), "BEHAVIOUR", None)
    if behaviour is None:
        raise ConfigError(f"{file} must define BEHAVIOUR")
    return cast(Behaviour, behaviour)


@cache
def _load(file: Path) -> ModuleType:
    """A module by path, under a name of its own, so that families with the same file names do not meet."""
    name = f"pytest_skillevo_family_{digest(str(file))[:12]}_{file.stem}"
    found = importlib.util.spec_from_file_location(name, file)
    if found is None or found.loader is None:
        raise ConfigError(f"{file} cannot be loaded as Python")
    module = importlib.util.module_from_spec(found)
    sys.modules[name] = module
    try:
        found.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise ConfigError(f"{file} cannot be loaded: {type(error).__name__}: {error}") from error
    return module
