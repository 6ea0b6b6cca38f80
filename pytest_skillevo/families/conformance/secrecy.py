"""Checks of what an agent sees beforehand: nothing of the truth, everything that is checked, nothing of a machine."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from ...core.gates.redaction import redact
from ..compare import SENTINEL
from ..scenario import Scenario
from ..spec import FamilySpec
from ..tasks import content
from ..tools import BAD_ARGUMENTS, NEEDS_PREREQUISITE, NO_DATA, NOT_FOUND, RATE_LIMITED, TIMEOUT, UNAVAILABLE
from .common import demand, scenarios_of, where

#: A value that stands in its own task's text this much more often than in those of other tasks is given away.
EXCESS: Final = 0.2
CODES: Final = (TIMEOUT, RATE_LIMITED, NO_DATA, NOT_FOUND, BAD_ARGUMENTS, NEEDS_PREREQUISITE, UNAVAILABLE)

_MACHINE: Final = re.compile(r"(?:^|[\s\"'(=])(/(?:home|Users|root|tmp|usr|var|opt|work|mnt)/\w+|[A-Z]:\\\\\w+)")


def visible(scenario: Scenario) -> str:
    """All text that is there before the first call: prompt, tools, workspace."""
    tools = [f"{tool.name} {tool.description} {json.dumps(tool.parameters)}" for tool in scenario.open()]
    return "\n".join([scenario.prompt, *tools, *scenario.files.values()])


def check_no_leak(spec: FamilySpec) -> None:
    """Neither ids nor values of the truth can be read off prompt, tools or workspace.

    A value that the prompt may say (a name that the task's table gives) is declared by FieldSpec(shown=True). Values
    that stand in every task's text, such as the words of a scale, give nothing away.
    """
    scenarios = list(scenarios_of(spec, 3))
    texts = [visible(scenario) for scenario in scenarios]
    for scenario, text in zip(scenarios, texts, strict=True):
        for record in scenario.records:
            secret = record["id"] != str(scenario.idents[scenario.titles[record["id"]]])
            demand(
                not secret or not re.search(rf"\b{re.escape(record['id'])}\b", text),
                f"the id {record['id']} of {record['name']} is visible before any call, {where(scenario)}",
            )
    shown = {one.name for one in spec.contract.fields if one.shown}
    for name in dict.fromkeys(one.name for one in spec.contract.fields):
        if name not in shown:
            _hidden(name, scenarios, texts)


def _hidden(name: str, scenarios: Sequence[Scenario], texts: Sequence[str]) -> None:
    own = other = count = 0
    for place, scenario in enumerate(scenarios):
        foreign = texts[(place + len(scenarios) // 2) % len(texts)]
        told = {*scenario.titles.values(), *(record["name"] for record in scenario.records)}
        for values in scenario.truth.values():
            for leaf in {*_leaves(values.get(name))} - told:
                count += 1
                own += leaf in texts[place]
                other += leaf in foreign
    demand(
        not count or own / count - other / count < EXCESS,
        f"the truth of {name!r} stands in the text of its own task in {own} of {count} cases, in the text of others in"
        f" {other}. Take it out of prompt, example, tools and workspace; if the prompt says it by intention, declare"
        " FieldSpec(shown=True).",
    )


def _leaves(value: Any) -> Iterator[str]:
    """The texts and numbers in a value that are long enough to mean something."""
    if value is None or value == SENTINEL:
        return
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    elif not isinstance(value, bool) and len(str(value)) >= 3:
        yield str(value)


def check_documented(spec: FamilySpec) -> None:
    """Everything that is checked is described: fields, keys, file, tools, codes."""
    for level in spec.levels:
        scenario = Scenario(spec, level, "feedback", 0, "lean")
        said = "\n".join([scenario.prompt, *(text for path, text in scenario.files.items() if path.endswith(".md"))])
        contract = spec.contract
        names = [one.name for one in scenario.fields] + [one.name for one in spec.summary(level)]
        for name in (*names, contract.id_key, contract.list_key, *_inner_keys(scenario)):
            demand(
                f"`{name}`" in said or f'"{name}"' in said,
                f"the checked key {name!r} of level {level} stands neither in the prompt nor, as `{name}`, in the"
                " reference",
            )
        demand(contract.file in scenario.prompt, f"the prompt of level {level} does not name the file {contract.file}")
        for tool in spec.levels[level].tools:
            demand(f"### {tool}" in said, f"the reference has no section '### {tool}'")
        for code in CODES:
            demand(f"| {code} |" in said, f"the reference has no row '| {code} |' in its table of error codes")


def _inner_keys(scenario: Scenario) -> list[str]:
    """The keys inside object values, which an agent must know as well."""
    found = (value for values in scenario.truth.values() for value in values.values() if value != SENTINEL)
    return list(dict.fromkeys(key for value in found if isinstance(value, dict) for key in value if key.isidentifier()))


def check_no_machine(spec: FamilySpec) -> None:
    """No path of a machine and no secret in what an agent sees or what is stored."""
    for scenario in scenarios_of(spec, 1):
        text = visible(scenario) + json.dumps(content(scenario))
        found = _MACHINE.search(text)
        demand(found is None, f"a path of a machine is visible: {found[1] if found else ''!r}, {where(scenario)}")
        demand(redact(text) == text, f"something that looks like a secret is visible, {where(scenario)}")
