"""The texts around a task that all families share: the prompt's skeleton, its example's outsider, the stale plan."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .compare import SENTINEL
from .scenario import Scenario


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptParts:
    """What a family puts into the skeleton. `rows` are the entity table's cells, numbered by the skeleton.

    The last goal, to save the file, is the skeleton's.

    `hints` say in a few words what each tool does; `example` is the terse example artifact.
    """

    title: str
    purpose: str
    goals: Sequence[str]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    example: Any
    hints: Mapping[str, str]
    steps: Sequence[str]
    reference: str


def task_prompt(task: Scenario, parts: PromptParts) -> str:
    """The prompt: goals, entities, output by example, tools, workflow, what matters (spec/suites.md 1.1)."""
    return f"""# {parts.title}: {len(task.records)} {task.spec.contract.entries} x {len(task.rung.tools)} lookups

{parts.purpose}

Goals:
{_numbered([*parts.goals, f"Save the result as `{task.spec.contract.file}` in the workspace."])}

{_table(parts.columns, parts.rows)}

## Output
One entry for each row of the table, and a summary. Shape (the values are only an example):
{json.dumps(parts.example)}

A value that the source does not have is written as {json.dumps(SENTINEL)}.

## Tools
{_lines(f"- {name}: {parts.hints[name]}" for name in task.rung.tools)}

## For each row
{_numbered(parts.steps)}

## Important
- `{parts.reference}` in the workspace documents every field that is checked, the names and the error codes.
- Report real answers of the tools only.
- Where another file in the workspace differs from this task, this task counts.
- When the file is complete, call claim_done.
"""


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


def _numbered(lines: Sequence[str]) -> str:
    return _lines(f"{number}. {line}" for number, line in enumerate(lines, 1))


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = ["#", *columns]
    body = [[str(number), *cells] for number, cells in enumerate(rows, 1)]
    ruler = "|" + "---|" * len(head)
    return _lines([f"| {' | '.join(head)} |", ruler, *(f"| {' | '.join(cells)} |" for cells in body)])


def outsider(task: Scenario) -> str:
    """The name of an entity that is in the world and not in the task, for the prompt's example (trap D)."""
    return _outsiders(task, "example")[0]


def stale_plan(task: Scenario, output: str) -> str:
    """A plan left over from another task: another file name and six entities, not all of them this task's (trap W)."""
    mine = list(task.titles.values())
    entities = task.chance.at("plan", "order").order([*mine[1:], *_outsiders(task, "plan")][:6])
    return json.dumps({"output": output, "status": "draft", task.spec.contract.entries: entities}, indent=2) + "\n"


def _outsiders(task: Scenario, purpose: str) -> list[str]:
    own = {record["name"] for record in task.records}
    names = [task.spec.title(record) for record in task.world.records if record["name"] not in own]
    return task.chance.at(purpose).order(names)
