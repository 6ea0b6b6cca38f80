"""The simulated agent on cats and creatures: a rule of a skill helps against its own fault and no other."""

from __future__ import annotations

import statistics
from functools import cache
from pathlib import Path

import pytest

from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.families.registry import load_behaviour, load_family, scenarios
from pytest_skillevo.families.tasks import make_task
from pytest_skillevo.models import resolve_model

ROOT = Path(__file__).parents[2]
SEEDS = range(4)
DESCRIPTIONS = {
    "cats": "cat encyclopedia of breeds from the registry",
    "creatures": "creature index with entries on creatures",
}
#: Family -> rule in words of its own -> levels at which its fault occurs, what the feedback says when it is not kept.
RULES = {
    "cats": {
        "Coat_family is part of every entry.": (("e1", "e3"), "coat_family ("),
        "Put the encyclopedia_entry in as well.": (("e2", "m2"), "encyclopedia_entry ("),
        "Read the name of each hit and accept an exact one alone.": (("e1", "e3"), "fabricated: "),
        "Take over the aggregates as they are, not the rows.": (("e2", "m2"), "summary blocks is expected"),
        "Lists are cut, so go on to the next page.": (("m1", "h1"), "paging: country_relatives"),
        "Names go in from A to Z, three of them at most.": (("e1", "e3"), "a sorted list of three"),
    },
    "creatures": {
        "Ids are integers in the output.": (("e1", "e2"), "under an id that is no number"),
        "Evolution is part of every entry.": (("e2", "e3"), "evolution (3 of 3)"),
        "Moves are part of every entry.": (("e1", "e2"), "moves (3 of 3)"),
        "Take over the aggregates as they are, not the rows.": (("e1", "m1"), "summary block type_names"),
        "Look up the id before any dependent call.": (("e2", "e3"), "process:"),
        "Lists are cut, so go on to the next page.": (("m1", "h1"), "paging: moves"),
    },
}


@cache
def family(name):
    spec = load_family(ROOT / "suites" / name / "family.py")
    return spec, LoopAgent(resolve_model("simulated", behaviours=[load_behaviour(spec)]))


@cache
def feedback(name, rule, level):
    spec, agent = family(name)
    head = f"name: {spec.skill}\ndescription: {DESCRIPTIONS[name]}"
    skill = Skill.from_bytes(spec.skill, f"---\n{head}\n---\n\n# Work\n\n## Steps\n\n1. {rule}\n".encode())
    return [
        task.grade(agent.run(task.prompt, tools=task.tools, skills=[skill], seed=seed)).feedback
        for task in map(make_task, list(scenarios(spec, levels=[level], profile="lean"))[:4])
        for seed in SEEDS
    ]


def share(name, rule, levels, sign):
    return statistics.mean(sign in text for level in levels for text in feedback(name, rule, level))


@pytest.mark.parametrize(("name", "rule"), [(name, rule) for name, rules in RULES.items() for rule in rules])
def test_a_rule_helps_against_its_own_fault_and_no_other(name, rule):
    for other, (levels, sign) in RULES[name].items():
        without, with_rule = (share(name, text, levels, sign) for text in ("Be kind.", rule))
        if other == rule:
            assert with_rule <= without / 2
            assert without >= 0.1
        else:
            assert with_rule >= without - 0.1, other
