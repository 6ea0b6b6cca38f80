"""`skillevo family new` and `pytest --family-check`, as an author uses them."""

from __future__ import annotations

import pytest

from pytest_skillevo.cli import main
from pytest_skillevo.families.conformance import CHECKS
from pytest_skillevo.families.registry import _load, load_family


@pytest.fixture
def project(pytester, monkeypatch):
    """An empty project with a new family."""
    pytester.makeini("[pytest]\naddopts = --import-mode=importlib\n")
    monkeypatch.chdir(pytester.path)
    assert main(["family", "new", "cat-toys"]) == 0
    return pytester


def test_a_new_family_keeps_every_rule_and_its_cases_pass(project, capsys):
    checked = project.runpytest_inprocess("suites/cat_toys", "--family-check")
    checked.assert_outcomes(passed=len(CHECKS))
    played = project.runpytest_inprocess("suites/cat_toys", "-q")
    assert played.ret == 0
    played.stdout.fnmatch_lines(["*1 skill, 54 cases (12 feedback, 12 validation, 30 holdout, 1 critical)*"])


def test_a_broken_rule_fails_in_words_without_a_traceback(project):
    file = project.path / "suites" / "cat_toys" / "family.py"
    text = file.read_text(encoding="utf-8").replace('critical=frozenset({("h1", 0)}),', "critical=frozenset(),")
    file.write_text(text, encoding="utf-8")
    checked = project.runpytest_inprocess("suites/cat_toys", "--family-check", "-k", "enough")
    checked.assert_outcomes(failed=1, deselected=len(CHECKS) - 1)
    checked.stdout.fnmatch_lines(["*family cat-toys: there are enough cases*", "*set FamilySpec.critical*"])
    assert "Traceback" not in checked.stdout.str()


def test_a_place_without_a_family_and_an_unknown_name_are_usage_errors(pytester):
    pytester.makepyfile(test_it="def test_it(): pass")
    nothing = pytester.runpytest_inprocess("--family-check")
    assert nothing.ret == pytest.ExitCode.USAGE_ERROR
    nothing.stderr.fnmatch_lines(["*there is no family.py in, below or above*"])
    unknown = pytester.runpytest_inprocess("--family-check-name=zebra")
    assert unknown.ret == pytest.ExitCode.USAGE_ERROR
    unknown.stderr.fnmatch_lines(["*no family 'zebra'*"])


def test_a_declaration_that_does_not_load_is_a_usage_error_that_names_it(project):
    file = project.path / "suites" / "cat_toys" / "family.py"
    (file.parent / "test_cat_toys.py").unlink()
    for text, sentence in (
        ("def broken(:", "*family.py cannot be loaded: SyntaxError*"),
        ("FAMILY = 7", "*family.py must define FAMILY, a FamilySpec, not int*"),
    ):
        file.write_text(text, encoding="utf-8")
        checked = project.runpytest_inprocess("suites/cat_toys", "--family-check")
        assert checked.ret == pytest.ExitCode.USAGE_ERROR
        checked.stderr.fnmatch_lines([sentence])
        load_family.cache_clear()
        _load.cache_clear()


def test_an_installed_family_is_checked_by_its_name(project, monkeypatch):
    """A family of another package, found by its entry point."""
    site = project.path / "site"
    site.mkdir()
    (project.path / "suites" / "cat_toys").rename(site / "toys")
    (site / "toys" / "__init__.py").write_text("", encoding="utf-8")
    info = site / "toys-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: toys\nVersion: 1.0\n", encoding="utf-8")
    point = "[pytest_skillevo.families]\ncat-toys = toys.family:FAMILY\n"
    (info / "entry_points.txt").write_text(point, encoding="utf-8")
    monkeypatch.syspath_prepend(site)
    checked = project.runpytest_inprocess(
        "--family-check-name=cat-toys", "-k", "enough or bytes", "-p", "no:cacheprovider"
    )
    checked.assert_outcomes(passed=2, deselected=len(CHECKS) - 2)


def test_a_family_is_never_written_over_and_bad_names_are_refused(project, capsys):
    for arguments, sentence in (
        (["family", "new", "cat-toys"], "is already there"),
        (["family", "new", "Cat Toys"], "is no name for a family"),
        (["family", "new", "../up"], "is no name for a family"),
    ):
        assert main(arguments) == 4
        assert sentence in capsys.readouterr().err
