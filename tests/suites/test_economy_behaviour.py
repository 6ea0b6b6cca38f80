"""The simulated agent on economies: a rule of a skill helps against its own fault, and odd answers never break it."""

from __future__ import annotations

import json
import statistics
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_skillevo.agents import LoopAgent
from pytest_skillevo.core.skill import Skill
from pytest_skillevo.families.registry import load_behaviour, load_family, tasks
from pytest_skillevo.models import resolve_model

ROOT = Path(__file__).parents[2]
FAMILY = load_family(ROOT / "suites" / "economy" / "family.py")
AGENT = LoopAgent(resolve_model("simulated", behaviours=[load_behaviour(FAMILY)]))
SEEDS = range(5)

#: Rule in words of its own -> levels at which its fault occurs, what the feedback says when the rule is not kept.
RULES = {
    "Report the code that the table shows.": (("e2", "e3"), "under the source's name"),
    "The whole table is about one common year.": (("e1", "m1"), "the latest year common to all"),
    "Mind the unit: millions are converted first.": (("e3", "m1"), "figures of that year in single units"),
    "Unemployment_rate is part of every entry.": (("e1", "e3"), "unemployment_rate ("),
    "Set the development tier by the limits in the task.": (("e1", "e3"), "development_tier wrong"),
    "A lookup that keeps failing is replaced by another lookup.": (("m1", "m2"), "keeps timing out"),
}


@cache
def feedback(rule, levels):
    head = "name: economic-snapshot\ndescription: economic snapshot of economies"
    text = f"---\n{head}\n---\n\n# Snapshot\n\n## Steps\n\n1. {rule}\n"
    skill = Skill.from_bytes("economic-snapshot", text.encode())
    return [
        task.grade(AGENT.run(task.prompt, tools=task.tools, skills=[skill], seed=seed)).feedback
        for task in tasks(FAMILY, levels=levels, split="feedback")
        for seed in SEEDS
    ]


def share(rule, levels, sign):
    return statistics.mean(sign in text for text in feedback(rule, levels))


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_helps_against_its_own_fault_and_no_other(rule):
    for other, (levels, sign) in RULES.items():
        without, with_rule = share("Be kind.", levels, sign), share(rule, levels, sign)
        if other == rule:
            assert with_rule <= without - 0.1
        elif "single units" in sign and "common year" in rule:
            assert with_rule < without  # figures of another year are wrong figures
        else:
            assert abs(with_rule - without) <= 0.1, other


KEYS = st.sampled_from(
    (
        *("success", "code", "country", "id", "region", "income_level", "values", "unit", "year", "value", "content"),
        *("population", "historical", "historical_population", "historical_unemployment", "country_code"),
    )
)
SCALARS = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=6), max_leaves=20
)
CODES = st.sampled_from(["TIMEOUT", "RATE_LIMITED", "NO_DATA", "NOT_FOUND", "ODD", None])
ANSWERS = st.one_of(
    JSON.map(json.dumps),
    st.dictionaries(KEYS, JSON, max_size=8).map(lambda data: json.dumps({**data, "success": True})),
    CODES.map(lambda code: json.dumps({"success": False, "code": code, "retry_after_calls": 2})),
    st.lists(st.fixed_dictionaries({"year": st.integers(2018, 2022), "value": SCALARS}), max_size=3).map(
        lambda rows: json.dumps({"success": True, "values": rows, "unit": "millions", "historical_population": rows})
    ),
)


class Odd:
    """A tool that answers with the next of the prepared texts."""

    def __init__(self, tool, answers):
        self.name, self.description, self.parameters, self.final = (
            tool.name,
            tool.description,
            tool.parameters,
            tool.final,
        )
        self._answers = answers

    def __call__(self, arguments):
        self._answers.append(self._answers.pop(0))
        return self._answers[-1]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_odd_answers_never_break_the_agent(data):
    task = data.draw(st.sampled_from(tasks(FAMILY, split="feedback")))
    answers = data.draw(st.lists(ANSWERS, min_size=1, max_size=6))
    run = LoopAgent(AGENT.model, max_turns=30).run(
        task.prompt, tools=[Odd(tool, answers) for tool in task.tools], seed=data.draw(st.integers(0, 50))
    )
    assert run.stop_reason in ("answered", "finished", "turn_limit")
