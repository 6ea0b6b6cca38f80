"""Which official rules a task is scored by, and which ids they expect (spec/suites.md 3.1)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, cast

from .official import Check, Rules, UniformRules, public_task
from .official.ids import ID_MODES
from .scenario import Scenario


def official_rules(task: Scenario) -> Rules:
    """The rules of a task: those of the public family of its spec, the spec's own, or some made from the contract."""
    official = task.spec.official
    if official is None:
        return _from_contract(task)
    return public_task(official, task.level).rules if isinstance(official, str) else official(task)


def expected_ids(rules: Rules, task: Scenario) -> list[Any]:
    """The ids of the task's entities as the rules compare them."""
    read = ID_MODES[rules.id_mode if isinstance(rules, UniformRules) else "exact_ci"].read
    return [read(ident) for ident in task.idents.values()]


def with_known(family: str, task: Scenario, known: Mapping[str, Any]) -> UniformRules:
    """The rules of a public family whose constants (by id) are taken from the task's world."""
    return dataclasses.replace(cast(UniformRules, public_task(family, task.level).rules), known=known)


def _from_contract(task: Scenario) -> UniformRules:
    """A shape check in the manner of the public evaluators, for families that they do not have."""
    contract = task.spec.contract
    names = tuple(one.name for one in task.fields)
    checks: tuple[Check, ...] = tuple(("present", (name,), 0.6 / len(names)) for name in names)
    text = all(isinstance(ident, str) for ident in task.idents.values())
    mode = "exact_ci" if text else "exact"
    return UniformRules(contract.list_key, contract.id_key, mode, 0.4, checks, (contract.id_key, *names))
