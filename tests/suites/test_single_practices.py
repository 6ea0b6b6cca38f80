"""Each practice alone, in all families: where letting it go costs, and where a skill that states it gains."""

from __future__ import annotations

import os
import statistics
from functools import cache
from pathlib import Path

import pytest

from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.families.conformance.playing import play
from pytest_skillevo.families.registry import load_behaviour, load_family, scenarios
from pytest_skillevo.families.tasks import make_task
from pytest_skillevo.models import resolve_model
from pytest_skillevo.models.simulated.library import GAP, MERGE, PAGING, RATE_LIMIT, RETRY

ROOT = Path(__file__).parents[2]
#: SKILLEVO_SCALE=full takes more worlds and every rule, as a change of a family should.
FULL = os.environ.get("SKILLEVO_SCALE") == "full"
#: Worlds of a level in which a practice may cost.
COST_WORLDS = 4 if FULL else 1
#: Rules of each family whose gain is measured. Fewer worlds or seeds instead would measure luck: gains are small.
GAIN_RULES = None if FULL else 1
FAMILIES = sorted(file.parent.name for file in (ROOT / "suites").glob("*/family.py"))
#: Practice -> the way to let it go, and the kinds of faults that it is there for.
FAULTS = {RETRY: ("batch", "TR"), RATE_LIMIT: ("none", "L"), GAP: ("retry", "G"), MERGE: ("lapse", "M"),
          PAGING: ("lapse", "P")}  # fmt: skip
#: Levels at which another tool of the task has all that the limited one would say.
ELSEWHERE = {("economy", RATE_LIMIT): {"m2"}}
#: Family -> practice of its own -> a rule in other words than those of its skills.
RULES = {
    "cats": {
        "include coat_family": "Coat_family is part of every entry.",
        "include encyclopedia_entry": "Put the encyclopedia_entry in as well.",
        "copy the summary blocks": "Take over the aggregates as they are, not the rows.",
    },
    "creatures": {
        "include evolution": "Evolution is part of every entry.",
        "include moves": "Moves are part of every entry.",
        "copy the summary blocks": "Take over the aggregates as they are, not the rows.",
        "ids as numbers": "Ids are integers in the output.",
    },
    "economy": {
        "include unemployment_rate": "Unemployment_rate is part of every entry.",
        "one year common to all": "The whole table is about one common year.",
        "convert stated units": "Mind the unit: millions are converted first.",
        "take another route": "A lookup that keeps failing is replaced by another lookup.",
        "development_tier by rule": "Set the development tier by the limits in the task.",
        "economic_power_rank by rule": "Compute economic_power_rank yourself from the rule in the task.",
    },
    "recipe": {
        "include category_dishes": "Every entry has category_dishes.",
        "include cuisine_dishes": "Every entry has cuisine_dishes.",
        "cuisine as asked": "The cuisine is the kitchen word of the task.",
        "count ingredient_count oneself": "Count the ingredients yourself.",
        "difficulty_rating by rule": "Rate difficulty by the thresholds of the task.",
    },
    "weather": {
        "include historical": "Historical is part of every entry.",
        "copy the summary blocks": "Take over the aggregates as they are, not the rows.",
    },
}


@cache
def family(name):
    spec = load_family(ROOT / "suites" / name / "family.py")
    return spec, load_behaviour(spec)


@cache
def costly(name, practice, kind):
    """The levels at which letting the practice go costs, with everything else kept, in some world."""
    spec, behaviour = family(name)
    return {
        level
        for level in spec.levels
        for scenario in list(scenarios(spec, levels=[level], profile="lean"))[:COST_WORLDS]
        if play(behaviour.conduct, scenario, practice, kind).score < 1.0
    }


@pytest.mark.parametrize("practice", FAULTS, ids=lambda practice: practice.name)
@pytest.mark.parametrize("name", FAMILIES)
def test_a_practice_against_faults_matters_where_its_fault_is_planned_and_nowhere_else(name, practice):
    spec, _ = family(name)
    kind, faults = FAULTS[practice]
    planned = {level for level, rung in spec.levels.items() if {rule.kind for rule in rung.faults} & set(faults)}
    assert costly(name, practice, kind) == planned - ELSEWHERE.get((name, practice), set())


@cache
def score(name, rule, level):
    """Mean strict score of an agent whose skill states one rule; runs of two rules differ in nothing else."""
    spec, behaviour = family(name)
    agent = LoopAgent(resolve_model("simulated", behaviours=[behaviour]))
    tools = " ".join(word for rung in spec.levels.values() for tool in rung.tools for word in tool.split("_"))
    head = f"name: {spec.skill}\ndescription: '{behaviour.conduct.title} {spec.contract.entries} {tools}'"
    skill = Skill.from_bytes(spec.skill, f"---\n{head}\n---\n\n# Work\n\n## Steps\n\n1. {rule}\n".encode())
    return statistics.mean(
        task.grade(agent.run(task.prompt, tools=task.tools, skills=[skill], seed=seed)).score
        for task in map(make_task, list(scenarios(spec, levels=[level], profile="lean"))[:5])
        for seed in range(4)
    )


@pytest.mark.parametrize(
    ("name", "practice"), [(name, practice) for name, own in RULES.items() for practice in list(own)[:GAIN_RULES]]
)
def test_a_rule_of_the_family_alone_raises_the_score_where_its_practice_matters(name, practice):
    spec, behaviour = family(name)
    own = {one.name: one for one in behaviour.conduct.practices}
    matters = costly(name, own[practice], next(iter(own[practice].lapses)))
    gain = {lv: score(name, RULES[name][practice], lv) - score(name, "Be kind.", lv) for lv in spec.levels}
    assert matters
    assert statistics.mean(gain[level] for level in matters) > 0
    assert min(gain.values()) >= -0.005


def test_every_practice_of_a_family_has_its_rule_here():
    assert {n: set(rules) for n, rules in RULES.items()} == {
        n: {one.name for one in family(n)[1].conduct.practices} for n in FAMILIES
    }
