"""Every family with the simulated model: better skills score better, and tools open no sockets and never sleep."""

from __future__ import annotations

import statistics
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.families.conformance.common import sealed
from pytest_skillevo.families.registry import load_behaviour, load_family, tasks
from pytest_skillevo.models import resolve_model
from pytest_skillevo.models.simulated.complaints import read_complaints
from pytest_skillevo.models.simulated.edits import rule_for

ROOT = Path(__file__).parents[2]
ACTIVE = ROOT / "fixtures" / "skills"
VARIANTS = ROOT / "tests" / "data"
FAMILIES = sorted(file.parent.name for file in (ROOT / "suites").glob("*/family.py"))
#: (family, name) of every skill that has variants.
SKILLS = [
    (family, folder.name)
    for family in FAMILIES
    for folder in sorted((VARIANTS / f"skills_{family}" / "good").glob("*"))
]


@cache
def mean(family: str, skill: Path | None) -> float:
    """Mean strict score over half of a family's tasks."""
    spec = load_family(ROOT / "suites" / family / "family.py")
    agent = LoopAgent(resolve_model("simulated", behaviours=[load_behaviour(spec)]))
    skills = [Skill.load(skill)] if skill else []
    scores = []
    with sealed():
        for task in tasks(spec)[::2]:
            run = agent.run(task.prompt, tools=task.tools, skills=skills, seed=1)
            scores.append(task.grade(run).score)
    return statistics.mean(scores)


@pytest.mark.parametrize("family", FAMILIES)
def test_harder_levels_are_harder_and_leave_room_for_a_better_skill(family):
    spec = load_family(ROOT / "suites" / family / "family.py")
    agent = LoopAgent(resolve_model("simulated", behaviours=[load_behaviour(spec)]))
    active = ACTIVE / spec.skill
    skills = [Skill.load(active)] if active.exists() else []
    scores = {}
    for level in ("e1", "m1", "h1"):
        runs = [
            task.grade(agent.run(task.prompt, tools=task.tools, skills=skills, seed=seed)).score
            for task in tasks(spec, levels=[level])
            for seed in (1, 2, 3, 4)
        ]
        scores[level] = statistics.mean(runs)
    assert scores["e1"] + 0.02 >= scores["m1"] >= scores["h1"] - 0.02
    assert max(scores["m1"], scores["h1"]) <= 0.9


@pytest.mark.parametrize(("family", "name"), SKILLS)
def test_better_skills_score_better(family, name):
    good, corrupted = (mean(family, VARIANTS / f"skills_{family}" / kind / name) for kind in ("good", "corrupted"))
    none = mean(family, None)
    seed = none  # one family begins without a skill
    if (ACTIVE / name).exists():
        seed = mean(family, ACTIVE / name)
        assert none < seed
    assert corrupted + 0.03 < seed < good
    assert good - none > 0.15


def complaints(spec, behaviour, rule):
    """How often each complaint is raised in holdout by an agent whose skill states one rule; the complaints by key."""
    agent = LoopAgent(resolve_model("simulated", behaviours=[behaviour]))
    tools = " ".join(word for level in spec.levels.values() for tool in level.tools for word in tool.split("_"))
    about = f"{behaviour.conduct.title} {spec.contract.entries} {tools}"
    text = f"---\nname: {spec.skill}\ndescription: '{about}'\n---\n\n# Skill\n\n## Steps\n\n1. {rule}\n"
    skill = Skill.from_bytes(spec.skill, text.encode())
    raised, first = Counter(), {}
    for task in tasks(spec, split="holdout"):
        run = agent.run(task.prompt, tools=task.tools, skills=[skill], seed=1)
        for complaint in read_complaints(task.grade(run).feedback):
            raised[complaint.key] += 1
            first.setdefault(complaint.key, complaint)
    return raised, first


@pytest.mark.parametrize("family", FAMILIES)
def test_a_rule_against_a_complaint_of_the_family_takes_it_away(family):
    spec = load_family(ROOT / "suites" / family / "family.py")
    behaviour = load_behaviour(spec)
    own = {practice.name for practice in behaviour.conduct.practices}
    before, first = complaints(spec, behaviour, "Work.")
    mine = {c.practice.name: c for key, c in first.items() if c.practice.name in own and before[key] >= 3}
    assert mine
    for complaint in mine.values():
        after, _ = complaints(spec, behaviour, rule_for(complaint, "one"))
        assert after[complaint.key] <= before[complaint.key] / 2, complaint


def test_the_variants_are_kept_out_of_the_active_skills():
    texts = {file.read_text(encoding="utf-8") for file in VARIANTS.glob("skills_*/*/*/SKILL.md")}
    assert texts.isdisjoint({file.read_text(encoding="utf-8") for file in ACTIVE.glob("*/SKILL.md")})
