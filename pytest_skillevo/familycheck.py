"""`pytest PATH --family-check`: the rules that a task family keeps, one pytest item for each (docs/authoring.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from . import options
from .core.errors import ConfigError, SkillevoError
from .families.conformance import CHECKS, Check
from .families.registry import FILE, find_family, load_family
from .families.spec import FamilySpec


class FamilyCheck(pytest.Item):
    """One rule and one family."""

    def __init__(self, *, spec: FamilySpec, check: Check, file: Path, **settings: Any) -> None:
        super().__init__(**settings)
        self._spec, self._check, self._file = spec, check, file

    def runtest(self) -> None:
        """Check it."""
        self._check(self._spec)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """A broken rule in words; anything else with its traceback."""
        if isinstance(excinfo.value, SkillevoError):
            return f"{self._spec.name}: {self.name}\n{excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """File and headline."""
        return self._file, None, f"family {self._spec.name}: {self.name}"


class FamilyCheckRun:
    """Puts the checks in the place of the collected tests."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(
        self, session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Before the selections by -k and the like, so that they hold for the checks."""
        try:
            found = list(_families(config))
        except ConfigError as error:
            raise pytest.UsageError(str(error)) from None
        items[:] = [
            FamilyCheck.from_parent(
                session, name=name, nodeid=f"{_shown(config, file)}::{name}", spec=spec, check=check, file=file
            )
            for file, spec in found
            for name, check in CHECKS.items()
        ]


def _shown(config: pytest.Config, file: Path) -> str:
    return file.relative_to(config.rootpath).as_posix() if file.is_relative_to(config.rootpath) else file.as_posix()


def _families(config: pytest.Config) -> Iterator[tuple[Path, FamilySpec]]:
    """The installed family that is named, or those of the `family.py` files at, below, else above the given paths."""
    start = config.invocation_params.dir
    name = options.value_of(config, "family_check_name")
    if name is not None:
        spec = find_family(name, start)
        yield (spec.folder or start) / FILE, spec
        return
    files: dict[Path, None] = {}
    places = [(start / str(argument).split("::")[0]).resolve() for argument in config.args]
    for place in places:
        folder = place if place.is_dir() else place.parent
        below = sorted(file for file in folder.rglob(FILE) if not _hidden(file.relative_to(folder)))
        above = (parent / FILE for parent in folder.parents if (parent / FILE).is_file())
        files |= dict.fromkeys(below or [file for file in [next(above, None)] if file])
    if not files:
        looked = ", ".join(str(argument) for argument in config.args) or str(start)
        raise ConfigError(f"--family-check: there is no {FILE} in, below or above {looked}")
    for file in files:
        yield file, load_family(file)


def _hidden(file: Path) -> bool:
    """Whether a file is in a folder of tools, such as a virtual environment."""
    return any(part.startswith((".", "_")) or part in ("node_modules", "site-packages") for part in file.parts)
