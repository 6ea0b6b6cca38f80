"""From collected pytest items to the cases of an experiment: markers, splits, content, what must be refused."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import pytest

from .core.canonical import canonical_json, digest, fingerprint
from .core.errors import ConfigError, SkillError
from .core.gates.redaction import holds_key, redact
from .core.records import SPLITS, Case, Split, Task
from .core.retirement import retire
from .core.skill import Skill
from .core.suggest import did_you_mean
from .store.committed import RETIRED_FILE, read_retirements

#: Literals of at least this length are watched for leaks into skills and prompts (design: content and versions).
WATCHED_LITERAL = 20

#: Share of splits for cases that name none: one quarter feedback, one quarter validation, one half holdout.
SPLIT_PATTERN: tuple[Split, ...] = ("holdout", "feedback", "holdout", "validation")


@dataclass(frozen=True)
class Marked:
    """One case, the item behind it, and what only a plain run needs to know."""

    case: Case
    item: pytest.Item
    may_be_absent: bool


def _arguments(item: pytest.Item, mark: pytest.Mark, signature: inspect.Signature) -> dict[str, Any]:
    try:
        bound = signature.bind(*mark.args, **mark.kwargs)
    except TypeError as error:
        allowed = [name for name in signature.parameters if name != "names"]
        wrong = [name for name in mark.kwargs if name not in signature.parameters]
        hint = did_you_mean(wrong[0], allowed) if wrong else ""
        raise pytest.UsageError(f"{item.nodeid}: marker {mark.name}: {error}. {hint}".rstrip()) from None
    bound.apply_defaults()
    return dict(bound.arguments)


def _skill_signature(name: str, *, may_be_absent: bool = False) -> None: ...
def _split_signature(name: str | None = None, *, group: str | None = None) -> None: ...
def _critical_signature() -> None: ...
def _family_signature(name: str, *, level: str | None = None) -> None: ...
def _variants_signature(*names: str) -> None: ...


_SIGNATURES = {
    "skill": inspect.signature(_skill_signature),
    "split": inspect.signature(_split_signature),
    "critical": inspect.signature(_critical_signature),
    "family": inspect.signature(_family_signature),
    "variants": inspect.signature(_variants_signature),
}
_TEXT_ARGUMENTS = {"name", "group", "level"}


def marker(item: pytest.Item, name: str) -> dict[str, Any] | None:
    """The checked arguments of the closest marker of that name, or None. Raises pytest.UsageError."""
    mark = item.get_closest_marker(name)
    if mark is None:
        return None
    values = _arguments(item, mark, _SIGNATURES[name])
    for key, value in values.items():
        required = key == "name" and name != "split"
        if (
            key in _TEXT_ARGUMENTS
            and not (isinstance(value, str) and value.strip())
            and (required or value is not None)
        ):
            raise pytest.UsageError(f"{item.nodeid}: marker {name}: {key} must be text, not {value!r}")
    if name == "skill" and not isinstance(values["may_be_absent"], bool):
        raise pytest.UsageError(f"{item.nodeid}: marker skill: may_be_absent must be True or False")
    if name == "split" and values["name"] is not None and values["name"] not in SPLITS:
        hint = did_you_mean(values["name"], SPLITS)
        problem = f"{values['name']!r} is none of {', '.join(SPLITS)}. {hint}".rstrip()
        raise pytest.UsageError(f"{item.nodeid}: marker split: {problem}")
    return values


def skill_items(items: Iterable[pytest.Item]) -> list[pytest.Item]:
    """The items that carry a skill marker."""
    return [item for item in items if item.get_closest_marker("skill") is not None]


def build_cases(items: Sequence[pytest.Item]) -> list[Marked]:
    """The cases behind these items, each with a split. Raises pytest.UsageError for anything that is no honest case."""
    marked = [_marked(item) for item in items]
    seen: set[str] = set()
    for one in marked:
        if one.case.id in seen:
            raise pytest.UsageError(f"case {one.case.id} was collected twice; give each case once (--keep-duplicates?)")
        seen.add(one.case.id)
    with_splits = _without_retired(_assign_splits(marked))
    _check_splits(with_splits)
    return with_splits


def _marked(item: pytest.Item) -> Marked:
    if not isinstance(item, pytest.Function) or hasattr(item, "_testcase") or _is_unittest(item):
        kind = type(item).__name__
        raise pytest.UsageError(
            f"{item.nodeid}: a {kind} item cannot be a skill case; write it as a plain test function or method"
        )
    if holds_key(item.nodeid):
        raise pytest.UsageError(
            f"{redact(item.nodeid)}: the id of a case holds a key, and ids stand in stores and reports; "
            "give the parameter a name: pytest.param(..., id='...')"
        )
    if item.get_closest_marker("xfail") is not None:
        raise pytest.UsageError(f"{item.nodeid}: a skill case cannot be xfail; record a score or drop the mark")
    repeated = [name for name in _parameters(item) if name.startswith("__pytest_repeat")]
    if repeated or item.get_closest_marker("repeat") is not None:
        raise pytest.UsageError(f"{item.nodeid}: a repeated test would count as several cases; use --evolve-repeats")
    skill = marker(item, "skill")
    split = marker(item, "split") or {"name": None, "group": None}
    family = marker(item, "family") or {"name": None, "level": None}
    critical = marker(item, "critical") is not None
    marker(item, "variants")
    assert skill is not None, "only items with a skill marker come here"
    task = _task(item)
    content, ledger_key, watched = _content(item, task)
    case = Case(
        id=item.nodeid,
        skill=skill["name"],
        # A missing split is filled in by _assign_splits before anybody sees the case.
        split=cast(Split, split["name"] or (task and task.split) or ""),
        critical=critical or bool(task and task.critical),
        family=family["name"] or (task.family if task else None),
        level=family["level"] or (task.level if task else None),
        group=split["group"] or (task.group if task else None),
        content=content,
        watched=watched,
        fingerprint=ledger_key,
    )
    return Marked(case, item, skill["may_be_absent"])


def _is_unittest(item: pytest.Function) -> bool:
    import unittest

    return item.cls is not None and issubclass(item.cls, unittest.TestCase)


def _parameters(item: pytest.Function) -> Mapping[str, Any]:
    callspec = getattr(item, "callspec", None)
    return callspec.params if callspec is not None else {}


def _task(item: pytest.Function) -> Task | None:
    tasks = [value for value in _parameters(item).values() if isinstance(value, Task)]
    return tasks[0] if len(tasks) == 1 else None


def _content(item: pytest.Function, task: Task | None) -> tuple[str, str, tuple[str, ...]]:
    """Digest of what the case asks, its fingerprint for the ledger, and its long texts."""
    if task is not None and task.content is not None:
        try:
            return digest(canonical_json(task.content)), fingerprint(task.content), (task.prompt, *task.watched)
        except (TypeError, ValueError) as error:
            raise pytest.UsageError(f"{item.nodeid}: Task.content is not plain JSON: {error}") from None
    try:
        source = textwrap.dedent(inspect.getsource(item.function))
    except (OSError, TypeError):
        source = item.nodeid
    parameters = {name: value for name, value in _parameters(item).items() if name != "skill"}
    literals = _long_literals(source)
    literals += [value for value in parameters.values() if isinstance(value, str) and len(value) >= WATCHED_LITERAL]
    shown = {name: _stable_repr(value) for name, value in parameters.items()}
    return digest(source + canonical_json(shown)), fingerprint([source, shown]), tuple(dict.fromkeys(literals))


def _stable_repr(value: Any) -> str:
    try:
        text = repr(value)
    except Exception:  # a parameter of the suite's own making may not be printable
        text = f"<unprintable {type(value).__name__} object>"
    return re.sub(r"0x[0-9a-fA-F]+", "0x", text)


def _long_literals(source: str) -> list[str]:
    try:
        tree = ast.parse(source)
    except SyntaxError:  # the source of a lambda or of generated code need not stand alone
        return []
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    return [value for value in constants if isinstance(value, str) and len(value) >= WATCHED_LITERAL]


def _assign_splits(marked: Sequence[Marked]) -> list[Marked]:
    """Give every case without a split one: by content hash, stratified by family and level, groups kept together.

    A group that has a named split anywhere takes that split. Critical cases go to the holdout.
    """
    named: dict[str, Split] = {}
    for one in marked:
        if one.case.split and one.case.group is not None:
            named.setdefault(one.case.group, one.case.split)
    units: dict[tuple[str, str, str], list[Case]] = {}
    for one in marked:
        case = one.case
        if not case.split and case.group not in named:
            unit = ("group", case.group) if case.group is not None else ("content", case.content)
            units.setdefault((case.skill, *unit), []).append(case)
    assigned: dict[str, Split] = {}
    place: dict[str, int] = {}
    for cases in sorted(units.values(), key=_unit_order):
        skill = cases[0].skill
        if any(case.critical for case in cases):
            split: Split = "holdout"
        else:
            split = SPLIT_PATTERN[place.get(skill, 0) % len(SPLIT_PATTERN)]
            place[skill] = place.get(skill, 0) + 1
        assigned.update((case.id, split) for case in cases)
    return [
        one if one.case.split else replace(one, case=replace(one.case, split=_split_of(one.case, assigned, named)))
        for one in marked
    ]


def _split_of(case: Case, assigned: Mapping[str, Split], named: Mapping[str, Split]) -> Split:
    return assigned[case.id] if case.id in assigned else named[cast(str, case.group)]


def _unit_order(cases: Sequence[Case]) -> tuple[str, str, str, str]:
    first = cases[0]
    return (first.skill, first.family or "", first.level or "", digest(first.group or first.content))


def _without_retired(marked: Sequence[Marked]) -> list[Marked]:
    """Retired holdout cases count as validation, whatever their mark says."""
    if not marked:
        return []
    file = config_folder(marked[0].item.config) / RETIRED_FILE
    try:
        retired = {(one.skill, one.fingerprint) for one in read_retirements(file)}
        cases = retire([one.case for one in marked], retired)
    except ConfigError as error:
        raise pytest.UsageError(str(error)) from None
    return [replace(one, case=case) for one, case in zip(marked, cases, strict=True)]


def _check_splits(marked: Sequence[Marked]) -> None:
    by_content: dict[tuple[str, str], Case] = {}
    by_group: dict[tuple[str, str], Case] = {}
    for one in marked:
        case = one.case
        if case.critical and case.split != "holdout":
            raise pytest.UsageError(
                f"{case.id}: a critical case must be a holdout case, not {case.split}; move it or drop the mark"
            )
        twin = by_content.setdefault((case.skill, case.content), case)
        if twin.split != case.split:
            raise pytest.UsageError(
                f"{twin.id} ({twin.split}) and {case.id} ({case.split}) have the same content: "
                "a case may be in one split only"
            )
        if case.group is not None and (mate := by_group.setdefault((case.skill, case.group), case)).split != case.split:
            raise pytest.UsageError(
                f"{mate.id} ({mate.split}) and {case.id} ({case.split}) are both in group {case.group!r}: "
                "a group may be in one split only"
            )


def skills_folder(config: pytest.Config) -> Path:
    """The folder of the active skills."""
    return config_folder(config) / str(config.getini("skillevo_skills"))


def home_folder(config: pytest.Config) -> Path:
    """The folder of the store."""
    return config_folder(config) / str(config.getini("skillevo_home"))


def config_folder(config: pytest.Config) -> Path:
    """The folder that relative settings refer to: that of the ini file, else the root."""
    return config.inipath.parent if config.inipath is not None else config.rootpath


def load_active_skill(config: pytest.Config, item: pytest.Item, name: str, may_be_absent: bool) -> Skill:
    """The skill on disk, the absent one where that is allowed. Raises pytest.UsageError that teaches."""
    folder = skills_folder(config)
    if Path(name).name != name or name in {".", ".."}:
        raise pytest.UsageError(f"{item.nodeid}: marker skill: {name!r} is a folder name, not a path")
    if not (folder / name).exists():
        if may_be_absent:
            return Skill.absent(name)
        raise pytest.UsageError(_missing(config, item, name, folder))
    try:
        return Skill.load(folder / name)
    except SkillError as error:
        raise pytest.UsageError(str(error)) from None


def _missing(config: pytest.Config, item: pytest.Item, name: str, folder: Path) -> str:
    known = sorted(child.name for child in folder.iterdir() if child.is_dir()) if folder.is_dir() else []
    where = shown_path(config, folder)
    advice = did_you_mean(name, known)
    if not advice and known:
        advice = f"It has: {', '.join(known[:10])}."
    elif not advice:
        advice = "That folder is empty or missing; set skillevo_skills, or may_be_absent=True for a skill to be made."
    return f"skill {name!r} (marker at {_marker_place(config, item, name)}) is not in {where}/. {advice}"


def shown_path(config: pytest.Config, path: Path) -> str:
    """A path as people write it: relative to the root where possible."""
    try:
        return path.relative_to(config.rootpath).as_posix()
    except ValueError:
        return path.as_posix()


def _marker_place(config: pytest.Config, item: pytest.Item, name: str) -> str:
    path = shown_path(config, item.path)
    try:
        lines = item.path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return path
    pattern = re.compile(r"\bskill\(\s*(?:name\s*=\s*)?[\"']" + re.escape(name) + r"[\"']")
    numbers = [number for number, line in enumerate(lines, 1) if pattern.search(line)]
    return f"{path}:{numbers[0]}" if numbers else path
