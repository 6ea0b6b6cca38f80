"""Skill cases in a plain run: ordinary tests on the active skill."""

from __future__ import annotations

import json
import sqlite3
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import pytest

from pytest_skillevo.store.store import DATABASE_FILE


def test_the_header_counts_the_cases_and_the_skill_is_the_one_on_disk(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest
        pytestmark = pytest.mark.skill("demo")

        @pytest.mark.split("feedback")
        def test_first(skill): assert skill.spec.steps == ("Read the question.", "Answer it.")
        @pytest.mark.split("validation")
        def test_second(skill): assert skill.name == "demo"
        @pytest.mark.critical
        @pytest.mark.split("holdout")
        def test_third(skill): assert skill.exists
        """
    )
    result = project.runpytest()
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(
        [
            "skillevo: 1 skill, 3 cases (1 feedback, 1 validation, 1 holdout, 1 critical), model simulated; holdout cases*"
        ]
    )


def test_a_run_without_skill_cases_prints_nothing_and_makes_no_files(project: pytest.Pytester) -> None:
    project.makepyfile("def test_plain(): pass")
    before = {path.name for path in project.path.iterdir()}
    result = project.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1)
    assert "skillevo" not in result.stdout.str().split("collected", 1)[1]
    assert {path.name for path in project.path.iterdir()} - before <= {"__pycache__"}


def test_a_low_score_fails_no_test_but_a_failed_check_and_an_assert_do(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest
        pytestmark = [pytest.mark.skill("demo"), pytest.mark.split("feedback")]

        def test_low_score(skill, rollout): rollout.record(score=0.1, feedback="poor")
        def test_failed_check(skill, rollout): rollout.check("tea is served", False)
        def test_assert(skill): assert skill.name == "other"
        """
    )
    result = project.runpytest()
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(["*checks failed: tea is served*"])


def test_why_a_holdout_case_failed_stays_closed_until_somebody_asks(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.skill("demo")
        @pytest.mark.split("holdout")
        def test_sealed(skill):
            print("the secret answer is 42")
            assert "forty-two" == "41"
        """
    )
    closed = project.runpytest()
    closed.assert_outcomes(failed=1)
    closed.stdout.fnmatch_lines(["*holdout case failed; why stays closed*"])
    assert "forty-two" not in closed.stdout.str()
    assert "secret answer" not in closed.stdout.str()
    assert not (project.path / ".skillevo").exists()

    opened = project.runpytest("--skillevo-show-holdout")
    opened.stdout.fnmatch_lines(["*that counts as an opening*", "*forty-two*"])
    assert _openings(project.path) == 1


def test_captured_output_of_holdout_cases_stays_closed_whoever_prints_it(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.fixture
        def leaky():
            yield
            raise OSError("away")

        @pytest.mark.skill("demo")
        @pytest.mark.split("holdout")
        def test_sealed(skill, leaky):
            print("the secret answer is 42")
        """
    )
    result = project.runpytest("-rA", "--junitxml=out.xml", "-o", "junit_logging=all")
    result.assert_outcomes(passed=1, errors=1)
    assert "secret answer" not in result.stdout.str()
    assert "secret answer" not in (project.path / "out.xml").read_text(encoding="utf-8")


def _openings(root: Path) -> int:
    file = root / ".skillevo" / DATABASE_FILE
    with sqlite3.connect(file) as connection:
        (count,) = connection.execute("select count(*) from openings").fetchone()
    return int(count)


def test_variants_run_a_case_once_per_named_version(project: pytest.Pytester, write_skill: Callable[..., Path]) -> None:
    write_skill("demo-short", "---\nname: demo\ndescription: Short.\n---\nJust answer.\n")
    project.makepyfile(
        """
        import pytest

        @pytest.mark.skill("demo")
        @pytest.mark.split("feedback")
        @pytest.mark.variants("active", "none", "demo-short")
        def test_versions(skill, record_property):
            record_property("text", skill.text)
        """
    )
    result = project.runpytest("-v", "--junitxml=out.xml")
    result.assert_outcomes(passed=3)
    result.stdout.fnmatch_lines(["*test_versions?active?*", "*test_versions?none?*", "*test_versions?demo-short?*"])
    assert "Just answer." in (project.path / "out.xml").read_text(encoding="utf-8")


def test_an_unknown_variant_names_what_there_is(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.skill("demo")
        @pytest.mark.variants("elsewhere")
        def test_versions(skill): pass
        """
    )
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*variant 'elsewhere' of skill 'demo' is none of: active, none, a revision id*"])


def test_the_seed_of_a_plain_run_depends_on_the_case_only(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import json, pathlib, pytest
        pytestmark = [pytest.mark.skill("demo"), pytest.mark.split("feedback")]

        @pytest.mark.parametrize("n", range(3))
        def test_seed(skill, rollout, n):
            file = pathlib.Path("seeds.json")
            seeds = json.loads(file.read_text()) if file.exists() else []
            file.write_text(json.dumps(seeds + [rollout.seed]))
        """
    )
    project.runpytest()
    first = json.loads((project.path / "seeds.json").read_text())
    (project.path / "seeds.json").unlink()
    project.runpytest("-p", "no:randomly")
    assert json.loads((project.path / "seeds.json").read_text()) == first
    assert len(set(first)) == 3


@pytest.mark.parametrize("value", ["float('nan')", "1.2", "'high'", "True", "-0.01", "float('inf')"])
def test_a_score_that_is_none_is_an_error_that_names_the_case(project: pytest.Pytester, value: str) -> None:
    project.makepyfile(
        f"""
        import pytest

        @pytest.mark.skill("demo")
        @pytest.mark.split("feedback")
        def test_odd(skill, rollout): rollout.record(score={value})
        """
    )
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*test_odd: score must *"])


def test_a_misuse_cannot_be_swallowed_by_the_test(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.skill("demo")
        @pytest.mark.split("feedback")
        def test_twice(skill, rollout):
            rollout.record(score=1)
            try:
                rollout.record(score=0)
            except Exception:
                pass
        """
    )
    result = project.runpytest()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*rollout.record() was called twice*"])


SCORED = """
import pytest
from pytest_skillevo import InfrastructureError

pytestmark = [pytest.mark.skill("demo"), pytest.mark.split("feedback")]

def test_records(skill, rollout): rollout.record(score=0.25)
def test_checks(skill, rollout):
    rollout.check("tea", True)
    rollout.check("milk", False)
def test_asserts(skill): assert skill.name == "demo"
def test_fails(skill): assert skill.name == "other"
def test_skips(skill): pytest.skip("no tea")
def test_breaks(skill): raise InfrastructureError("no water")
def test_misuses(skill, rollout): rollout.record(score=7)
@pytest.mark.split("holdout")
def test_closed(skill, rollout): rollout.record(score=0.125)
"""


@pytest.mark.parametrize("workers", [[], ["-n2"]], ids=["serial", "workers"])
def test_a_plain_run_ends_with_the_mean_scores_but_keeps_those_of_the_holdout(
    project: pytest.Pytester, workers: list[str]
) -> None:
    project.makepyfile(SCORED)
    result = project.runpytest("--junitxml=junit.xml", *workers)
    # (0.25 + 0.5 + 1 + 0) / 4: what was skipped, broke down or was misused has no score
    result.stdout.fnmatch_lines(
        ["skillevo: mean scores (model simulated)", "  demo   feedback 0.44 (4)   holdout 1 of 1 passed"]
    )
    written = {
        case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")}
        for case in ET.parse(project.path / "junit.xml").iter("testcase")
    }
    scores = {name: found["skillevo.score"] for name, found in written.items() if "skillevo.score" in found}
    assert scores == {"test_records": "0.25", "test_checks": "0.5", "test_asserts": "1", "test_fails": "0"}
    assert written["test_closed"] == {"skillevo.skill": "demo", "skillevo.split": "holdout"}


def test_scores_of_named_versions_are_told_apart(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.skill("demo")
        @pytest.mark.split("feedback")
        @pytest.mark.variants("active", "none")
        def test_it(skill, rollout): rollout.record(score=0.75 if skill.exists else 0.5)
        """
    )
    project.runpytest().stdout.fnmatch_lines(
        ["  demo (active)   feedback 0.75 (1)", "  demo (none)     feedback 0.50 (1)"]
    )
