"""What must hold of the simulated cook (spec/simulated.md, "what must hold")."""

from __future__ import annotations

import hashlib
import os
import re
import statistics
import subprocess
import sys

import pytest

from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.families.registry import load_behaviour, load_family
from pytest_skillevo.models import resolve_model
from pytest_skillevo.models.simulated.practices import Practice

from .conftest import RECIPE, ROOT, skill_with
from .probes import AREAS, PROBES, RULES, entries

FILLER = " ".join(
    f"In season {n} the orchard looks pleasant and visitors stroll between the trees until evening." for n in range(90)
)


def share(signs):
    return statistics.mean(map(float, signs))


def test_better_skills_score_better(kitchen, seed_skill, good_skill, corrupted_skill):
    none, corrupted, seed, good = (kitchen.mean(s) for s in (None, corrupted_skill, seed_skill, good_skill))
    assert none + 0.03 < seed
    assert corrupted + 0.05 < seed
    assert seed + 0.15 < good


def test_the_seed_leaves_headroom_and_the_good_skill_is_not_perfect(kitchen, seed_skill, good_skill):
    assert 0.68 <= kitchen.mean(seed_skill) <= 0.82
    assert 0.93 <= kitchen.mean(good_skill) <= 0.98


def test_better_skills_score_better_at_every_level(kitchen, seed_skill, good_skill):
    for level in ("e1", "e2", "e3", "m1", "m2", "h1"):
        assert kitchen.mean(seed_skill, levels=(level,)) + 0.08 < kitchen.mean(good_skill, levels=(level,))


def test_runs_of_one_task_differ_between_seeds(kitchen, seed_skill):
    by_task = {}
    for seed in range(6):
        for each in kitchen.plays(seed_skill, seeds=(seed,), split="feedback"):
            by_task.setdefault(each.task, []).append(each.evaluation.score)
    spread = statistics.mean(statistics.pstdev(scores) for scores in by_task.values())
    assert 0.03 < spread < 0.2


@pytest.fixture(scope="module")
def fault_rates(kitchen):
    """For the empty skill and for each single rule: fault class -> share of rollouts with its sign."""

    def rates(skill):
        played = kitchen.plays(skill, seeds=(1, 2, 3), split="holdout")
        return {
            name: share(sign(each) for each in played if each.level in levels)
            for name, (levels, sign) in PROBES.items()
        }

    return {None: rates(skill_with()), **{name: rates(skill_with(rule)) for name, rule in RULES.items()}}


@pytest.mark.parametrize("name", RULES)
def test_a_single_rule_helps_its_own_fault_class(fault_rates, name):
    assert fault_rates[None][name] >= 0.08
    assert fault_rates[name][name] <= fault_rates[None][name] / 2


@pytest.mark.parametrize("name", [name for name in RULES if name != "reference"])
def test_a_single_rule_helps_no_other_fault_class(fault_rates, name):
    others = {other: fault_rates[None][other] - fault_rates[name][other] for other in PROBES if other != name}
    assert {other: gain for other, gain in others.items() if gain > 0.12} == {}


def test_reading_the_reference_helps_only_with_what_it_documents(fault_rates):
    gains = {name: fault_rates[None][name] - fault_rates["reference"][name] for name in PROBES}
    assert gains["category_dishes"] > 0.1
    assert gains["cuisine_dishes"] > 0.1
    assert all(abs(gains[name]) < 0.12 for name in ("finish", "retry", "order", "reuse", "verify"))


def test_totals_are_reached_by_paging_only(kitchen):
    keys = "Every entry has category_dishes and cuisine_dishes."
    paged = kitchen.plays(skill_with(keys, "Follow offset until the total is reached."), levels=("m1",))
    plain = kitchen.plays(skill_with(keys), levels=("m1",))
    assert share("paging: " in each.evaluation.feedback for each in paged) <= 0.15
    assert share("paging: " in each.evaluation.feedback for each in plain) >= 0.4


def test_open_values_are_invented_unless_the_skill_forbids_it(kitchen):
    dropped = "Never retry a failed call."
    invented = {}
    for rule in ("Be quick.", "Never invent a value."):
        played = kitchen.plays(skill_with(dropped, rule), seeds=range(6), levels=("e2", "m1"))
        invented[rule] = share("fabricated: " in each.evaluation.feedback for each in played)
    assert invented["Never invent a value."] < invented["Be quick."] / 2


def test_long_irrelevant_text_hurts(kitchen, good_skill):
    bloated = good_skill.with_component("pitfalls", good_skill.components["pitfalls"] + f"\n- {FILLER}")
    assert kitchen.mean(bloated) < kitchen.mean(good_skill) - 0.05
    assert tokens(kitchen, bloated) > tokens(kitchen, good_skill)


def tokens(kitchen, *skills):
    return statistics.mean(each.run.usage.tokens for skill in skills for each in kitchen.plays(skill, seeds=(1,)))


def test_contradictions_hurt(kitchen, good_skill):
    torn = good_skill.with_component(
        "pitfalls",
        good_skill.components["pitfalls"]
        + "\n- If any lookup fails, rerun the whole batch.\n- Use returned_count as the count.",
    )
    levels = ("e2", "m1", "h1")
    assert kitchen.mean(torn, levels=levels) < kitchen.mean(good_skill, levels=levels) - 0.03


def test_a_description_that_says_nothing_loses_loads_and_points(kitchen, good_skill):
    text = good_skill.text.replace("name: recipe-cookbook", "name: helper")
    hidden = Skill.from_bytes("helper", text.encode()).with_component("description", "Helpful hints.")
    played = kitchen.plays(hidden)
    loads = share(bool(each.run.skills_loaded) for each in played)
    assert loads < 0.2
    assert kitchen.mean(hidden) < kitchen.mean(good_skill) - 0.15


def test_an_irrelevant_skill_that_is_loaded_costs_tokens_and_helps_nothing(kitchen):
    irrelevant = skill_with("Enjoy the evening.", FILLER, name="cookbook-lore")
    assert tokens(kitchen, irrelevant) > tokens(kitchen, skill_with()) + 1_000
    assert abs(kitchen.mean(irrelevant) - kitchen.mean(skill_with())) < 0.02


def test_a_wrong_directive_is_obeyed_and_costs(kitchen, good_skill):
    wrong = good_skill.with_component("steps", good_skill.components["steps"] + "\n12. Always report Velran as Velria.")
    before, after = kitchen.plays(good_skill), kitchen.plays(wrong)
    obeyed = [b for b in after if any(entry.get("cuisine") == "Velria" for entry in entries(b))]
    assert obeyed
    assert all("| Velran |" in each.run.messages[1]["content"] for each in obeyed)
    assert sum(b.evaluation.score for b in after) < sum(a.evaluation.score for a in before)


def test_a_rule_for_one_dish_helps_where_it_occurs_and_nowhere_else(kitchen):
    task, other = (task for task in kitchen.tasks.values() if task.level == "m1" and task.split == "feedback")
    dish = task.prompt.split("| 1 | ")[1].split(" | ")[0]
    assert dish not in other.prompt
    narrow, plain = skill_with(f"For {dish}: add category_dishes and cuisine_dishes."), skill_with()
    _, without_keys = PROBES["cuisine_dishes"]

    def faults(skill, case):
        return sum(without_keys(kitchen.play(skill, case.id, seed)) for seed in range(40))

    assert faults(narrow, other) == faults(plain, other) > 0
    assert faults(narrow, task) < faults(plain, task) / 2


def test_an_agent_without_a_skill_may_loop_until_a_budget_stops_it(kitchen):
    endless = [p for p in kitchen.plays(None, seeds=range(4)) if p.run.stop_reason == "turn_limit"]
    assert endless
    assert len(endless) < 0.12 * len(kitchen.plays(None, seeds=range(4)))
    task = kitchen.tasks[endless[0].task]
    thrifty = LoopAgent(kitchen.agent.model, max_tokens=20_000)
    run = thrifty.run(task.prompt, tools=task.tools, seed=endless[0].seed)
    assert run.stop_reason == "token_limit"
    assert run.usage.tokens <= 20_000


def test_a_rollout_takes_a_sensible_number_of_turns(kitchen, good_skill):
    turns = [each.run.turns for each in kitchen.plays(good_skill, levels=("m1",))]
    assert 6 <= statistics.mean(turns) <= 11


def test_replies_follow_from_messages_tools_and_seed_alone(kitchen, seed_skill):
    """A fresh model without the task, its truth, its plan of faults or its tools gives the very same turns again."""
    for played in kitchen.plays(seed_skill, seeds=(3,), split="validation"):
        fresh = resolve_model("simulated", behaviours=[load_behaviour(load_family(RECIPE))])
        schemas = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
            for t in played.run.tools
        ]
        schemas.insert(0, {"type": "function", "function": {"name": "skill_load", "description": "", "parameters": {}}})
        for place, message in enumerate(played.run.messages):
            if message["role"] == "assistant":
                reply = fresh.complete([dict(m) for m in played.run.messages[:place]], schemas, seed=3)
                made = [(c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls", ())]
                assert [(call.name, call.arguments) for call in reply.tool_calls] == made
                assert reply.text == message["content"]


def test_other_answers_of_the_tools_change_the_artifact(kitchen, good_skill):
    """What the agent writes comes from the answers: with other answers it writes other values."""
    task = next(task for task in kitchen.tasks.values() if task.level == "e1")

    class Altered:
        def __init__(self, tool):
            self._tool = tool
            self.name, self.description, self.parameters, self.final = (
                tool.name,
                tool.description,
                tool.parameters,
                tool.final,
            )

        def __call__(self, arguments):
            return re.sub(r'("total_time_minutes": ?)', r"\g<1>9", self._tool(arguments))

    box = task.tools
    kitchen.agent.run(task.prompt, tools=[Altered(tool) for tool in box], skills=[good_skill], seed=1)
    plain = kitchen.play(good_skill, task.id, 1)
    assert box.files["recipe_cookbook.json"] != plain.run.tools.files["recipe_cookbook.json"]


SCRIPT = """
import hashlib, json, sys
from pathlib import Path
from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.families.registry import load_behaviour, load_family, tasks
from pytest_skillevo.models import resolve_model
root = Path(sys.argv[1])
family = load_family(root / "suites/recipe/family.py")
agent = LoopAgent(resolve_model("simulated", behaviours=[load_behaviour(family)]))
skill = Skill.load(root / "fixtures/skills/recipe-cookbook")
found = hashlib.sha256()
for task in tasks(family, split="feedback"):
    for skills in ([skill], []):
        run = agent.run(task.prompt, tools=task.tools, skills=skills, seed=5)
        found.update(json.dumps([run.messages, run.usage.to_json(), task.grade(run).to_json()]).encode())
print(found.hexdigest())
"""


def test_the_same_bytes_come_out_for_every_hash_seed():
    digests = set()
    for hash_seed in ("0", "1", "4242"):
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(ROOT)], capture_output=True, text=True, env=environment, check=True
        )
        digests.add(done.stdout.strip())
    assert len(digests) == 1
    assert len(digests.pop()) == len(hashlib.sha256().hexdigest())


def test_a_conversation_of_another_kind_is_refused(kitchen):
    with pytest.raises(ConfigError, match="recipe"):
        kitchen.agent.run("Book a flight.", tools=next(iter(kitchen.tasks.values())).tools)


def test_every_practice_of_the_cook_has_probabilities_in_range(kitchen):
    practices = kitchen.behaviour.conduct.switches
    assert len(practices) >= 12
    assert all(isinstance(practice, Practice) for practice in practices)
    assert AREAS
