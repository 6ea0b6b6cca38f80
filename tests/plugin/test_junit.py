"""The JUnit file: a case for the decision, figures as properties, and readable by a reader that is not ours."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from junitparser import JUnitXml

FAMILIES = ["xunit1", "xunit2"]

BROKEN = """
import pytest
from pytest_skillevo import InfrastructureError

pytestmark = pytest.mark.skill("demo")
SPLITS = ["feedback"] * 3 + ["validation"] * 4 + ["holdout"] * 8

@pytest.mark.parametrize(
    "n", [pytest.param(n, marks=pytest.mark.split(split), id=f"c{n}") for n, split in enumerate(SPLITS)]
)
def test_it(skill, rollout, n):
    if n in (8, 9, 10) and "tip" in skill.text:
        raise InfrastructureError("the worker ]]> died \\x00\\x1b[31m")
    rollout.record(score=0.9 if "tip" in skill.text else 0.4, feedback="the tip was not used")
"""


def suite_of(path: Path):
    """The only suite of a file, after its counts were checked against its cases."""
    (suite,) = list(JUnitXml.fromfile(str(path)))
    cases = list(suite)
    assert suite.tests == len(cases)
    assert suite.failures == sum(any(r.__class__.__name__ == "Failure" for r in case.result) for case in cases)
    return suite, cases


@pytest.mark.parametrize("family", FAMILIES)
def test_the_decision_is_a_case_and_its_facts_are_properties_of_the_suite(suite, evolve, family) -> None:
    assert evolve("--junitxml=out.xml", "-o", f"junit_family={family}").ret == 0
    read, cases = suite_of(suite.path / "out.xml")
    facts = {each.name: each.value for each in read.properties()}
    assert facts["skillevo.verdict"] == "ACCEPT"
    assert facts["skillevo.simulated"] == "true"
    assert facts["skillevo.experiment"].startswith("ex-")
    assert len(facts["skillevo.variant.after"]) == 64
    assert facts["skillevo.cost_usd"] == "unknown"
    (decision,) = [case for case in cases if case.classname == "skillevo.decision"]
    assert decision.name == "demo"
    assert decision.is_passed


def test_every_case_has_its_figures(suite, evolve) -> None:
    assert evolve("--junitxml=out.xml").ret == 0
    tree = ElementTree.parse(suite.path / "out.xml")
    case = next(each for each in tree.iter("testcase") if each.get("name") == "test_it[c14]")
    facts = {each.get("name"): each.get("value") for each in case.iter("property")}
    assert facts["skillevo.split"] == "holdout"
    assert (facts["skillevo.before"], facts["skillevo.after"], facts["skillevo.repeats"]) == ("0.4", "0.9", "3")
    assert facts["skillevo.tokens_after"] == ""


def test_a_blocked_comparison_is_a_failure_in_the_file(suite, evolve) -> None:
    suite.makepyfile(test_suite=BROKEN)
    assert evolve("--junitxml=out.xml").ret == 1
    _, cases = suite_of(suite.path / "out.xml")
    (decision,) = [case for case in cases if case.classname == "skillevo.decision"]
    (failure,) = decision.result
    assert "BLOCKED" in failure.text or "BLOCKED" in failure.message
