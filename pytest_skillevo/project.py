"""The project's settings as pytest reads them, for the command line that runs without pytest.

The search mirrors pytest 9: from the start folder upwards, the first file with pytest settings wins, and relative
paths refer to its folder. Overrides given to one pytest run (`-c`, `-o`) are unknown here; the command line has
`--home` and `--skills` for that.
"""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from . import gating
from .core.errors import ConfigError
from .gating import GateSettings

DEFAULT_SKILLS: Final = "skills"
DEFAULT_HOME: Final = ".skillevo"
#: Environment variable that names the store's database, before any file does: a password has no place in a file.
STORE_VARIABLE: Final = "SKILLEVO_STORE"

_SPAN: Final = re.compile(r"(\d{1,6})\s*([smhdw])")
_SECONDS: Final = {"s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class Project:
    """Where a project keeps its skills and its store (absolute paths)."""

    #: The folder that relative settings refer to.
    root: Path
    #: The file that the settings came from; None when there is none.
    file: Path | None
    skills: Path
    home: Path
    #: PostgreSQL URL of the store; None for a file in `home`.
    store: str | None = None
    #: Patterns of folder names that nothing is published to.
    protected: tuple[str, ...] = ()
    #: How long a revision waits before time promotes it, or gives it up; None: for ever.
    promote_after: timedelta | None = None
    expire_after: timedelta | None = None
    gates: GateSettings = field(default_factory=GateSettings)


def find_project(start: Path) -> Project:
    """The project that a folder belongs to. Raises ConfigError when its settings cannot be read."""
    start = start.absolute()
    file, settings = _locate(start)
    root = file.parent if file is not None else _setup_folder(start)
    skills = _setting(settings, "skillevo_skills", DEFAULT_SKILLS, file)
    home = _setting(settings, "skillevo_home", DEFAULT_HOME, file)
    return Project(
        root,
        file,
        root / skills,
        root / home,
        os.environ.get(STORE_VARIABLE, "").strip() or _store(settings, file),
        _words(settings, "skillevo_protected", file),
        _span(settings, "skillevo_promote_after", file),
        _span(settings, "skillevo_expire_after", file),
        _gates(settings, file),
    )


def _locate(start: Path) -> tuple[Path | None, Mapping[str, Any]]:
    bare: Path | None = None
    for folder in (start, *start.parents):
        for name, read in _READERS.items():
            file = folder / name
            if not file.is_file():
                continue
            settings = read(file)
            if settings is not None:
                return file, settings
            if name == "pyproject.toml" and bare is None:
                bare = file
    # Without settings anywhere, pytest still takes the nearest pyproject.toml as the root.
    return bare, {}


def _setup_folder(start: Path) -> Path:
    for folder in (start, *start.parents):
        if (folder / "setup.py").is_file():
            return folder
    return start


def _setting(settings: Mapping[str, Any], key: str, default: str, file: Path | None) -> str:
    value = settings.get(key, default)
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise ConfigError(f"{file}: {key} must be the path of a folder, not {value!r}")
    return value


def _store(settings: Mapping[str, Any], file: Path | None) -> str | None:
    value = settings.get("skillevo_store", "")
    if not isinstance(value, str):
        raise ConfigError(f"{file}: skillevo_store must be a URL such as postgresql://HOST/DATABASE, not {value!r}")
    return value.strip() or None


def _gates(settings: Mapping[str, Any], file: Path | None) -> GateSettings:
    defaults = {key: (type_, default) for key, _, type_, default in gating.INI}

    def read(key: str) -> Any:
        type_, default = defaults[key]
        if key not in settings:
            return default
        if type_ == "args":
            return _words(settings, key, file)
        return _yes_or_no(settings, key, file) if type_ == "bool" else settings[key]

    try:
        return gating.settings(read)
    except ConfigError as error:
        raise ConfigError(f"{file}: {error}") from None


def _yes_or_no(settings: Mapping[str, Any], key: str, file: Path | None) -> bool:
    """As pytest reads a "bool"."""
    value = str(settings[key]).strip().lower()
    if value not in ("1", "true", "yes", "on", "0", "false", "no", "off"):
        raise ConfigError(f"{key} must be true or false, not {settings[key]!r}")
    return value in ("1", "true", "yes", "on")


def _words(settings: Mapping[str, Any], key: str, file: Path | None) -> tuple[str, ...]:
    """A list, as TOML has it or as words with the quoting of a shell, as pytest's "args" are."""
    value = settings.get(key, [])
    try:
        words = shlex.split(value) if isinstance(value, str) else value
    except ValueError as error:
        raise ConfigError(f"{file}: {key}: {error}") from None
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise ConfigError(f"{file}: {key} must be a list of words, not {value!r}")
    return tuple(words)


def _span(settings: Mapping[str, Any], key: str, file: Path | None) -> timedelta | None:
    value = settings.get(key, "")
    if value in ("", None):
        return None
    match = _SPAN.fullmatch(value.strip().lower()) if isinstance(value, str) else None
    if match is None or int(match[1]) == 0:
        raise ConfigError(f"{file}: {key} must be a time such as 12h or 7d (s, m, h, d, w), not {value!r}")
    return timedelta(seconds=int(match[1]) * _SECONDS[match[2]])


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read: {error}") from None


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(_text(file))
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file}: {error}") from None


def _table(document: Mapping[str, Any], *path: str) -> Mapping[str, Any] | None:
    value: Any = document
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value if isinstance(value, Mapping) else None


def _section(file: Path, section: str) -> Mapping[str, Any] | None:
    # The parser that pytest itself uses (and depends on), so that comments and continuation lines read the same.
    from iniconfig import IniConfig, ParseError

    try:
        parsed = IniConfig(str(file), _text(file))
    except ParseError as error:
        raise ConfigError(str(error)) from None
    return dict(parsed[section].items()) if section in parsed else None


def _pytest_toml(file: Path) -> Mapping[str, Any]:
    return _table(_toml(file), "pytest") or {}


def _pyproject(file: Path) -> Mapping[str, Any] | None:
    document = _toml(file)
    table = _table(document, "tool", "pytest") or {}
    native = {key: value for key, value in table.items() if key != "ini_options"}
    return native or _table(document, "tool", "pytest", "ini_options")


def _pytest_ini(file: Path) -> Mapping[str, Any]:
    return _section(file, "pytest") or {}


def _tox_ini(file: Path) -> Mapping[str, Any] | None:
    return _section(file, "pytest")


def _setup_cfg(file: Path) -> Mapping[str, Any] | None:
    return _section(file, "tool:pytest")


#: In pytest's order. A reader answers None for a file without pytest settings; pytest.toml and pytest.ini count even
#: when empty.
_READERS: Final[Mapping[str, Callable[[Path], Mapping[str, Any] | None]]] = {
    "pytest.toml": _pytest_toml,
    ".pytest.toml": _pytest_toml,
    "pytest.ini": _pytest_ini,
    ".pytest.ini": _pytest_ini,
    "pyproject.toml": _pyproject,
    "tox.ini": _tox_ini,
    "setup.cfg": _setup_cfg,
}
