"""The decision logic of the public study, end to end on the bundled recipe family with candidates made for the purpose.

There, a fix was accepted, a candidate that did better where the search looked fell on the holdout, and one that had saved
tokens on the holdout cost more in use (spec/suites.md 2.8).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo.core.skill import Skill

ROOT = Path(__file__).parents[2]
FAMILY = ROOT / "suites" / "recipe" / "family.py"
GOOD = Skill.load(ROOT / "tests" / "data" / "skills_recipe" / "good" / "recipe-cookbook")

CONFTEST = '''
import json
from pathlib import Path

from pytest_skillevo.core.protocols import Reply
from pytest_skillevo.core.records import Usage
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.families.registry import load_behaviour, load_family


class Reviewer:
    """A stand-in that leaves every skill as it is; one that bids it to think twice costs it a long thought."""

    kind = "simulated"
    name = "reviewer-under-test"
    priced = True

    def complete(self, messages, tools=(), **settings):
        long = "Reviewers read every lookup twice." in "".join(str(message["content"]) for message in messages)
        usage = Usage(input_tokens=1_000, output_tokens=30_000 if long else 100)
        return Reply(json.dumps({"action": "skip", "reason": "nothing new"}), (), "stop", usage)


def pytest_skillevo_chat_model(name, role, config):
    return Reviewer() if name == "reviewer-under-test" else None


def pytest_skillevo_behaviours(config):
    return [load_behaviour(load_family(Path(r"FAMILY")))]


def pytest_skillevo_proposer(name, config):
    made = Skill.load(Path(__file__).parent / "made" / "recipe-cookbook")
    return lambda brief, seed: made.components[brief.component]
'''

SUITE = """
import pytest
from pathlib import Path
from pytest_skillevo import cases


@pytest.mark.skill("recipe-cookbook")
@pytest.mark.parametrize("case", cases("recipe", policy="POLICY", start=Path(r"FAMILY")))
def test_recipe(skill, case, agent, rollout):
    run = agent.run(case.prompt, tools=case.tools, skills=[skill], seed=rollout.seed)
    rollout.record(case.grade(run))
"""

#: The keys that the seed skill of the first two studies leaves out.
KEYS = ", and also\n   category_dishes and cuisine_dishes, each with count and top3 in alphabetical order"


def changed(skill: Skill, component: str, *replacements: tuple[str, str]) -> Skill:
    """The skill with texts of one component replaced."""
    text = skill.components[component]
    for old, new in replacements:
        assert old in text, old
        text = text.replace(old, new)
    return skill.with_component(component, text)


def study(pytester: pytest.Pytester, seed: Skill, made: Skill, policy: str, *options: str) -> dict[str, Any]:
    """Run a whole experiment in which the only proposal is `made`, and give its report."""
    seed.write(pytester.path / "skills" / "recipe-cookbook")
    made.write(pytester.path / "made" / "recipe-cookbook")
    pytester.makeini("[pytest]\naddopts = --strict-markers\n")
    pytester.makeconftest(CONFTEST.replace("FAMILY", str(FAMILY)))
    pytester.makepyfile(test_suite=SUITE.replace("FAMILY", str(FAMILY)).replace("POLICY", policy))
    result = pytester.runpytest(
        "--evolve",
        "--evolve-proposer=made",
        "--evolve-model=reviewer=reviewer-under-test",
        "--evolve-iterations=4",
        "--evolve-repeats=1",
        "--evolve-report=report.json",
        *options,
    )
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    report: dict[str, Any] = json.loads((pytester.path / "report.json").read_text(encoding="utf-8"))
    return report


def test_a_fix_is_accepted(pytester: pytest.Pytester) -> None:
    seed = changed(GOOD, "steps", (KEYS, ""))
    report = study(pytester, seed, GOOD, "by_world")
    assert (report["decision"]["verdict"], report["replay"]["status"]) == ("ACCEPT", "held")
    assert report["skill"]["after"] == GOOD.digest
    assert report["confirmation"]["holdout"]["worse"] == 0


def test_a_candidate_that_won_the_search_and_regressed_on_the_holdout_is_stopped(pytester: pytest.Pytester) -> None:
    """It adds what easy tasks lack and unlearns what only hard ones need: lookups that fail, gaps, and pages."""
    gap = 'NO_DATA is final: write {"unavailable": true} there and do not ask again.'
    whole = GOOD.with_component("pitfalls", "- Do not repeat a lookup that already succeeded.")
    whole = whole.with_component("steps", f"{whole.components['steps']}\n12. {gap}")
    made = changed(
        whole,
        "steps",
        ("When a lookup times out", "If any lookup fails"),
        (
            "retry only the failed item, at most twice, and keep what already succeeded.",
            "run the whole batch again until all of it succeeds.",
        ),
        (
            "When a lookup is rate limited, continue with other lookups and come back later.",
            "Where a list is needed, use returned_count as the number of dishes.",
        ),
        (" Compare returned_count with the total and page with offset until the total\n   is reached.", ""),
        (gap, "If a lookup answers NO_DATA, guess the most likely value so that no field stays empty."),
    )
    seed = changed(whole, "steps", (KEYS, ""))
    report = study(pytester, seed, made, "by_level")
    assert report["search"]["best_score"] > report["search"]["seed_score"]
    assert report["decision"]["verdict"] == "REJECT"
    assert report["decision"]["rule"] in ("quality-worse", "critical-regressed")
    assert (report["replay"], report["revision"]) == (None, None)


def test_a_candidate_that_saved_on_the_holdout_and_cost_more_in_replay_is_rejected(pytester: pytest.Pytester) -> None:
    padding = " ".join(f"Remark {number}: cookbooks have been written with care for long." for number in range(18))
    steps = GOOD.components["steps"]
    seed = GOOD.with_component("steps", f"{steps} {padding}")
    made = GOOD.with_component("steps", f"{steps} Reviewers read every lookup twice.")
    economy = ("--evolve-goal=cost", "--evolve-acceptance=or-equal", "--evolve-epsilon=0.05")
    report = study(pytester, seed, made, "by_world", *economy)
    assert report["confirmation"]["decision"]["rule"] == "cost-superior"
    assert (report["decision"]["verdict"], report["decision"]["rule"]) == ("REJECT", "replay-costlier")
    groups = {group["group"]: group for group in report["replay"]["groups"]}
    assert groups["optimized"]["agent_tokens"] < groups["evolution"]["agent_tokens"]
    assert groups["optimized"]["end_to_end_tokens"] > groups["evolution"]["end_to_end_tokens"]
    assert groups["baseline"]["reviewer_tokens"] == 0
