"""Does the behaviour of the simulated agent fit its family? A misspelt tool or field would only lower its scores."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from ...core.errors import ConfigError
from ...models.simulated.conduct import Conduct
from ...models.simulated.worker import LookupBehaviour
from ..registry import FILE, load_behaviour
from ..spec import FamilySpec
from .common import CheckFailed, demand


def check_behaviour(spec: FamilySpec) -> None:
    """It loads, does not import the declaration, and names tools and fields as the family does, no field left out."""
    if spec.behaviour is None or spec.folder is None:
        return
    file = spec.folder / spec.behaviour
    try:
        behaviour = load_behaviour(spec)
    except ConfigError as error:
        raise CheckFailed(str(error)) from error
    demand(
        Path(FILE).stem not in set(_imported(file)),
        f"{spec.behaviour} imports {FILE}, where the truth is; an agent knows the prompt, the answers and its skill",
    )
    if isinstance(behaviour, LookupBehaviour):
        _check_names(spec, behaviour.conduct)


def _check_names(spec: FamilySpec, conduct: Conduct) -> None:
    lookups = [lookup for stage in conduct.stages for lookup in stage]
    tools = {name for lookup in lookups for name in (lookup.tool, lookup.unless) if name}
    tools |= {name for fill in conduct.fields for name in fill.tools}
    for name in sorted(tools - set(spec.tools)):
        raise CheckFailed(f"{spec.behaviour} names the tool {name!r}, which the family does not have")
    filled, checked = {fill.name for fill in conduct.fields}, {field.name for field in spec.contract.fields}
    for name in sorted(filled - checked):
        raise CheckFailed(f"{spec.behaviour} fills the field {name!r}, which the contract does not have")
    for name in sorted(checked - filled):
        raise CheckFailed(f"{spec.behaviour} never fills the field {name!r}; add a Fill for it to Conduct.fields")


def _imported(file: Path) -> Iterator[str]:
    """The last part of the name of every module that a file imports, and every name that it takes from one."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (one.name.rpartition(".")[2] for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").rpartition(".")[2]
            yield from (one.name for one in node.names if node.module is None)
