"""Checks of worlds, levels and tools: determinism, disjoint pools, faults that bite, rising levels, honest refusals."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest_skillevo

from ...core.records import SPLITS, Split
from ..faults import FAULT_NAMES
from ..oracle import oracle
from ..scenario import Scenario
from ..spec import FamilySpec, world_of
from .common import CheckFailed, demand, played, scenarios_of, where
from .digests import digest_lines

#: The fewest cases of each split.
CASES: Final[dict[Split, int]] = {"feedback": 12, "validation": 12, "holdout": 30}
ROOT: Final = Path(pytest_skillevo.__file__).parents[1]


def check_deterministic(spec: FamilySpec) -> None:
    """The same bytes in two other processes, in two orders, with other hash seeds."""
    if spec.folder is None:
        raise CheckFailed("FamilySpec.folder is not set; give it Path(__file__).parent")
    here = digest_lines(spec, "forwards")
    for seed, order in (("1", "backwards"), ("4711", "forwards")):
        done = subprocess.run(
            [sys.executable, "-m", "pytest_skillevo.families.conformance.digests", str(spec.folder), spec.name, order],
            env={
                **os.environ,
                "PYTHONHASHSEED": seed,
                "PYTHONPATH": os.pathsep.join([str(ROOT), *filter(None, sys.path)]),
            },
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        demand(done.returncode == 0, f"the family cannot be loaded in another process:\n{done.stderr[-2000:]}")
        wrong = [a for a, b in zip(here, done.stdout.splitlines(), strict=False) if a != b]
        demand(
            not wrong and len(done.stdout.splitlines()) == len(here),
            f"another process (hash seed {seed}, {order}) gives other bytes for {len(wrong)} tasks:"
            f" {' '.join(wrong[0].split()[:3]) if wrong else ''}. Draw by Chance alone: no hash(), random, clock, or"
            " order of a set.",
        )


def check_disjoint(spec: FamilySpec) -> None:
    """No name and no id occurs in two splits, and no denied name at all."""
    owner: dict[str, Split] = {}
    for split in SPLITS:
        for draw in range(spec.draws[split]):
            for record in world_of(spec, split, draw).records:
                for key in (record["id"], record["name"]):
                    held = owner.setdefault(key, split)
                    demand(
                        held == split, f"{key!r} is in {held} and in {split}; keep to the ids and names of the engine"
                    )
                low = record["name"].casefold()
                real = [name for name in spec.population.denied if name in low.split() or low == name]
                demand(not real, f"the real name {real} came out of the generator")


def check_sizes(spec: FamilySpec) -> None:
    """Enough cases in each split, and critical ones in holdout."""
    for split, least in CASES.items():
        count = spec.draws[split] * len(spec.levels)
        demand(count >= least, f"{split} has {count} cases, at least {least} are needed: raise FamilySpec.draws")
    for level, draw in spec.critical:
        known = level in spec.levels and 0 <= draw < spec.draws["holdout"]
        demand(known, f"the critical case {level!r}, draw {draw} does not exist in holdout")
    demand(bool(spec.critical), "no case of holdout is critical: set FamilySpec.critical")


def check_levels(spec: FamilySpec) -> None:
    """Levels rise: never fewer entities or tools than the level before, more calls at the last than at the first."""
    names = list(spec.levels)
    for before, after in pairwise(names):
        low, high = spec.levels[before], spec.levels[after]
        more = high.entities >= low.entities and len(high.tools) >= len(low.tools)
        demand(more, f"level {after} has fewer entities or tools than {before}: order FamilySpec.levels by difficulty")
    first, last = (
        statistics.mean(len(spec.route(Scenario(spec, name, "holdout", draw, "lean"))) for draw in range(3))
        for name in (names[0], names[-1])
    )
    demand(last > first, f"level {names[-1]} needs {last:g} calls, no more than {names[0]} ({first:g})")


def check_faults(spec: FamilySpec) -> None:
    """Every planned fault is met by an agent that does all that is needed."""
    for scenario in scenarios_of(spec, 3):
        box, _ = played(scenario, oracle)
        met = {entry.fault for entry in box.log}
        for fault in scenario.plan:
            if fault.kind in "TLM":
                demand(
                    fault.kind in met,
                    f"the planned {FAULT_NAMES[fault.kind]} of {fault.tool} is never met, {where(scenario)}. The"
                    " arguments of ToolSpec.about must be those of the route; a hidden field must be in that tool's"
                    " answers.",
                )


#: Well-formed values that no world knows, by JSON type.
STRANGE: Final[dict[type, tuple[Any, ...]]] = {
    str: ("", "zzz", "00000", "x" * 1000),
    int: (0, 10**9),
    float: (0.5,),
    list: ([], ["zzz"]),
}


def check_tools(spec: FamilySpec) -> None:
    """Tools answer bad calls with an error and strange ones without an exception."""
    for name, tool in spec.tools.items():
        scenario = Scenario(spec, _with(spec, name), "feedback", 0, "lean")
        good = dict(tool.about(scenario.records[0]))
        bad: list[Any] = [{**good, "no_such_argument": 1}, None, [], 7, "x"]
        odd: tuple[Any, ...] = (None, {"a": 1}, float("nan"), [1], [[]])
        bad += [{**good, key: one} for key in good for one in odd]
        for arguments in bad:
            answer = _answer(scenario, name, arguments)
            refused = answer.get("success") is False
            demand(refused, f"{name}({arguments!r}) succeeds; declare its arguments in ToolSpec.parameters")
        for key, value in good.items():
            for strange in STRANGE.get(type(value), ()):
                _answer(scenario, name, {**good, key: strange})
        _answer(scenario, name, good)


def _answer(scenario: Scenario, name: str, arguments: Any) -> dict[str, Any]:
    try:
        answer: dict[str, Any] = json.loads(scenario.open().call(name, arguments))
    except Exception as error:
        shown = repr(arguments)[:200]
        raise CheckFailed(
            f"{name}({shown}) raises {type(error).__name__}: {error}; answer failed(...) instead"
        ) from error
    return answer


def _with(spec: FamilySpec, tool: str) -> str:
    """A level that offers the tool."""
    for name, level in spec.levels.items():
        if tool in level.tools:
            return name
    raise CheckFailed(f"no level offers the tool {tool}; take it out of the family")
