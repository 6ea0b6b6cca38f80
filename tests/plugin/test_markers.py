"""Markers and their arguments, splits, and what is no case."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest


def _refused(project: pytest.Pytester, source: str, *lines: str) -> None:
    project.makepyfile("import pytest\n" + source)
    result = project.runpytest()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: *{line}*" for line in lines])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


@pytest.mark.parametrize(
    ("mark", "line"),
    [
        ("skill('demo', may_be_absnt=True)", "marker skill: *may_be_absnt*Did you mean 'may_be_absent'[?]"),
        ("skill()", "marker skill: missing a required argument: 'name'"),
        ("skill(7)", "marker skill: name must be text, not 7"),
        ("skill('demo', may_be_absent='yes')", "may_be_absent must be True or False"),
        ("split('holdoutt')", "'holdoutt' is none of feedback, validation, holdout. Did you mean 'holdout'[?]"),
        ("split(7)", "marker split: name must be text, not 7"),
        ("split('feedback', groop='a')", "groop*Did you mean 'group'[?]"),
        ("family()", "marker family: missing a required argument: 'name'"),
        ("critical(True)", "marker critical: too many positional arguments"),
    ],
)
def test_wrong_marker_arguments_are_usage_errors_that_teach(project: pytest.Pytester, mark: str, line: str) -> None:
    skill = "" if mark.startswith("skill(") else "@pytest.mark.skill('demo')\n"
    _refused(project, f"{skill}@pytest.mark.{mark}\ndef test_it(skill): pass", line)


def test_a_critical_case_outside_the_holdout_is_a_usage_error(project: pytest.Pytester) -> None:
    source = (
        "@pytest.mark.skill('demo')\n@pytest.mark.critical\n@pytest.mark.split('validation')\ndef test_it(skill): pass"
    )
    _refused(project, source, "a critical case must be a holdout case, not validation")


def test_the_same_content_in_two_splits_names_both_node_ids(project: pytest.Pytester) -> None:
    source = """
pytestmark = pytest.mark.skill("demo")
@pytest.mark.parametrize("q", [pytest.param("x", marks=pytest.mark.split("feedback"), id="one"),
                               pytest.param("x", marks=pytest.mark.split("holdout"), id="two")])
def test_it(skill, q): pass
"""
    _refused(project, source, "test_it[[]one] (feedback) and *test_it[[]two] (holdout) have the same content")


def test_a_group_in_two_splits_is_a_usage_error(project: pytest.Pytester) -> None:
    source = """
pytestmark = pytest.mark.skill("demo")
@pytest.mark.split("feedback", group="orders")
def test_a(skill): assert 1
@pytest.mark.split("holdout", group="orders")
def test_b(skill): assert 2
"""
    _refused(project, source, "are both in group 'orders'")


def test_a_key_in_the_id_of_a_case_is_refused_and_not_shown(project: pytest.Pytester) -> None:
    key = "sk-proj-" + "Ab3dEf6h" * 6
    source = f"@pytest.mark.skill('demo')\n@pytest.mark.parametrize('key', ['{key}'])\ndef test_it(skill, key): pass"
    _refused(project, source, "the id of a case holds a key")
    assert "Ab3dEf6hAb3dEf6h" not in project.runpytest().stderr.str()


def test_an_xfail_case_is_refused(project: pytest.Pytester) -> None:
    source = "@pytest.mark.skill('demo')\n@pytest.mark.xfail\ndef test_it(skill): pass"
    _refused(project, source, "a skill case cannot be xfail")


def test_a_unittest_case_is_refused(project: pytest.Pytester) -> None:
    source = """
import unittest
@pytest.mark.skill("demo")
class TestIt(unittest.TestCase):
    def test_it(self): pass
"""
    _refused(project, source, "a TestCaseFunction item cannot be a skill case")


def test_a_missing_skill_is_named_with_the_line_of_the_marker_and_a_hint(project: pytest.Pytester) -> None:
    project.makepyfile("import pytest\n\n@pytest.mark.skill('demoo')\ndef test_it(skill): pass")
    result = project.runpytest()
    result.stdout.fnmatch_lines(["*skill 'demoo' (marker at *.py:3) is not in skills/. Did you mean 'demo'?*"])


def test_a_skill_that_may_be_absent_is_the_empty_skill(project: pytest.Pytester) -> None:
    project.makepyfile(
        """
        import pytest

        @pytest.mark.skill("new-one", may_be_absent=True)
        def test_it(skill):
            assert not skill.exists
            assert skill.name == "new-one"
        """
    )
    project.runpytest().assert_outcomes(passed=1)


def test_a_skill_name_is_no_path(project: pytest.Pytester) -> None:
    project.makepyfile("import pytest\n@pytest.mark.skill('../demo')\ndef test_it(skill): pass")
    project.runpytest().stdout.fnmatch_lines(["*'../demo' is a folder name, not a path*"])


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("---\nname: demo\ndescription: x\n---\n".encode("utf-16"), "*UTF-16*"),
        (b"---\nname: demo\ndescription: \xff\xfe\xfa\n---\n", "*SKILL.md*UTF-8*"),
        ("---\nname: demo\nname: twice\ndescription: x\n---\nbody\n", "*SKILL.md:3*name*"),
        ("---\nname: [demo\ndescription: x\n---\nbody\n", "*SKILL.md:*"),
    ],
    ids=["utf-16", "not-utf-8", "duplicate-key", "broken-yaml"],
)
def test_an_unreadable_skill_is_named_with_file_and_line(
    project: pytest.Pytester, write_skill: Callable[..., Path], content: str | bytes, line: str
) -> None:
    write_skill("demo", content)
    project.makepyfile("import pytest\n@pytest.mark.skill('demo')\ndef test_it(skill): pass")
    result = project.runpytest()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([line])


def test_splits_that_nobody_named_are_stable_and_cover_all_three(project: pytest.Pytester) -> None:
    source = """
        import pytest
        pytestmark = pytest.mark.skill("demo")
        @pytest.mark.parametrize("n", {numbers})
        def test_it(skill, n): pass
        """
    project.makepyfile(source.format(numbers="range(40)"))
    first = project.runpytest("-q").stdout.str()
    assert "40 cases (10 feedback, 10 validation, 20 holdout)" in first
    project.makepyfile(source.format(numbers="reversed(range(40))"))
    assert "40 cases (10 feedback, 10 validation, 20 holdout)" in project.runpytest("-q").stdout.str()


def test_all_markers_are_registered(project: pytest.Pytester) -> None:
    result = project.runpytest("--markers")
    for name in ("skill", "split", "critical", "family", "variants"):
        result.stdout.fnmatch_lines([f"@pytest.mark.{name}*"])
