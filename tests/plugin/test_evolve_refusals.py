"""Bad input to `pytest --evolve`: a clear error that names the thing, exit code 4, and nothing lost."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Evolve = Callable[..., pytest.RunResult]


def _usage_error(result: pytest.RunResult, *lines: str) -> None:
    assert result.ret == pytest.ExitCode.USAGE_ERROR, result.stdout.str() + result.stderr.str()
    result.stderr.fnmatch_lines([f"ERROR: *{line}*" for line in lines])
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("--evolve-seed=x", "--evolve-seed=x: expected a whole number"),
        ("--evolve-seed=-1", "--evolve-seed=-1: expected a whole number of at least 0"),
        ("--evolve-alpha=1", "--evolve-alpha=1: expected a number above 0 and below 0.5"),
        ("--evolve-margin=nan", "--evolve-margin=nan: expected a number above 0 and below 1"),
        ("--evolve-goal=best", "--evolve-goal=best: expected one of quality, cost, either, no-worse"),
        ("--evolve-stages=confirm", "--evolve-stages=confirm: expected *each stage needs the one before it"),
        ("--evolve-model=judg=simulated", "--evolve-model=judg=simulated: expected NAME or ROLE=NAME"),
        ("--evolve-model=simulatd", "Did you mean 'simulated'"),
        ("--evolve-max-usd=0", "--evolve-max-usd=0: expected an amount"),
        ("--evolve-max-seconds=inf", "--evolve-max-seconds=inf: expected a number of seconds"),
        ("--evolve-report=out.txt", "the suffix chooses the kind"),
        ("--evolve-report=skills", "the suffix chooses the kind"),
        ("--evolve-report=folder.json", "not a place for a file"),
        ("--evolve-report=test_suite.py/out.json", "not a place for a file"),
        ("--evolve-max-tokens=1000", "the tokens of a call are unknown, so the cap cannot be kept"),
        ("--evolve-accept-reason=because", "belongs to the merge gate"),
        ("--evolve-resume=last", "the store holds no experiment of --evolve yet"),
        ("--evolve-resume=ex-nothing", "there is no experiment 'ex-nothing'"),
        ("--evolve-skill=demmo", "no selected case exercises that skill. Did you mean 'demo'"),
        ("--skillevo-show-holdout", "--evolve does not go with --skillevo-show-holdout"),
        ("--pdb", "--evolve does not go with --pdb"),
        ("--setup-only", "--evolve does not go with --setup-only"),
    ],
)
def test_a_wrong_option_is_named_with_what_was_expected(suite: pytest.Pytester, option: str, line: str) -> None:
    suite.mkdir("folder.json")
    _usage_error(suite.runpytest("--evolve", option), line)


def test_an_ini_value_is_checked_like_an_option(suite: pytest.Pytester) -> None:
    suite.makeini("[pytest]\nevolve_repeats = none\n")
    result = suite.runpytest("--evolve")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "evolve_repeats" in result.stderr.str()


def test_ini_keys_set_what_the_options_set(suite: pytest.Pytester) -> None:
    suite.makeini("[pytest]\nevolve_rollouts = 500\nevolve_repeats = 2\n")
    result = suite.runpytest("--evolve", "--evolve-plan")
    result.stdout.fnmatch_lines(["*500 rollouts buy*"])
    result.stdout.fnmatch_lines(["*2 x 12 x 2 confirmation*"])


def test_a_budget_that_is_too_small_says_the_least(suite: pytest.Pytester) -> None:
    # 4 seed + 10 for one proposal + 2 x 12 x 3 confirmation + 3 x 3 x 8 replay
    _usage_error(
        suite.runpytest("--evolve", "--evolve-rollouts=157"),
        "--evolve-rollouts=157 cannot pay for one proposal and what must follow: at least 158 are needed",
    )
    assert suite.runpytest("--evolve", "--evolve-plan", "--evolve-rollouts=158").ret == 0


def test_a_plan_of_a_dataset_that_cannot_work_is_refused_like_the_run(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_suite=(suite.path / "test_suite.py").read_text().replace('"feedback"', '"holdout"'))
    _usage_error(suite.runpytest("--evolve", "--evolve-plan"), "skill 'demo' has no feedback case")


def test_several_skills_are_listed(suite: pytest.Pytester, write_skill: Callable[..., Path]) -> None:
    write_skill("other")
    suite.makepyfile(test_other="import pytest\n@pytest.mark.skill('other')\ndef test_it(skill): pass")
    _usage_error(suite.runpytest("--evolve"), "exercise 2 skills (demo, other)*--evolve-skill NAME")


def test_a_missing_split_is_named_with_the_counts(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_suite=(suite.path / "test_suite.py").read_text().replace('"validation"', '"feedback"'))
    _usage_error(
        suite.runpytest("--evolve"), "skill 'demo' has no validation case (7 feedback, 0 validation, 8 holdout)"
    )


def test_a_case_given_twice_is_refused(suite: pytest.Pytester) -> None:
    result = suite.runpytest("--evolve", "--keep-duplicates", "test_suite.py", "test_suite.py")
    _usage_error(result, "was collected twice")


def test_tests_without_a_skill_marker_are_counted_and_never_run(evolve: Evolve, suite: pytest.Pytester) -> None:
    suite.makepyfile(test_other="def test_unrelated(): raise SystemExit(7)")
    assert evolve().ret == 0
    report = json.loads((suite.path / "report.json").read_text())
    assert report["dataset"]["not_in_experiment"] == 1


def test_no_case_at_all_is_exit_code_five(project: pytest.Pytester) -> None:
    project.makepyfile("def test_unrelated(): pass")
    result = project.runpytest("--evolve")
    assert result.ret == pytest.ExitCode.NO_TESTS_COLLECTED
    result.stdout.fnmatch_lines(["skillevo: no case for an experiment*"])


def test_a_case_that_ignores_the_skill_is_refused(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_more="import pytest\n@pytest.mark.skill('demo')\ndef test_blind(): pass")
    _usage_error(suite.runpytest("--evolve"), "test_blind: the case does not use the skill fixture")


def test_a_broken_test_module_stops_the_experiment_before_it_starts(suite: pytest.Pytester) -> None:
    suite.makepyfile(test_broken="import nothing_of_that_name")
    result = suite.runpytest("--evolve")
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert not (suite.path / ".skillevo").exists()


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("rollout.record(score=float('nan'))", "score must be a finite number"),
        ("rollout.record(score=1.2)", "score must lie in *0, 1*"),
        ("rollout.record(score='high')", "score must be a number, not 'high'"),
        ("rollout.record(score=1); rollout.record(score=1)", "rollout.record() was called twice"),
        ("rollout.record(score=1); rollout.check('a', True)", "cannot both be used in one test"),
        ("rollout.check('a', True); rollout.record(score=1)", "cannot both be used in one test"),
        ("rollout.record()", "rollout.record() needs an Evaluation or score"),
        ("from pytest_skillevo import Evaluation; Evaluation(score=2)", "score must lie in"),
        ("pytest.xfail('later')", "a skill case cannot xfail"),
    ],
)
def test_what_is_no_evaluation_stops_the_run_and_names_the_case(suite: pytest.Pytester, body: str, line: str) -> None:
    source = (suite.path / "test_suite.py").read_text().split("    rollout.record")[0]
    suite.makepyfile(test_suite=source + f"    {body}\n")
    result = suite.runpytest("--evolve")
    _usage_error(result, f"test_suite.py::test_it*: *{line}")


def test_an_async_case_that_nothing_runs_is_refused_and_scores_nothing(suite: pytest.Pytester) -> None:
    source = (suite.path / "test_suite.py").read_text().replace("def test_it", "async def test_it")
    suite.makepyfile(test_suite=source + "\n    yield\n")
    _usage_error(suite.runpytest("--evolve"), "test_suite.py::test_it*an async test must be a coroutine function")


def test_a_skill_without_frontmatter_is_no_error_and_keeps_its_bytes(
    evolve: Evolve, suite: pytest.Pytester, write_skill: Callable[..., Path]
) -> None:
    text = b"# Demo\r\n\r\nSome text.\r\n\r\n## Steps\r\n\r\n1. Go.\r\n"
    file = write_skill("demo", text) / "SKILL.md"
    result = evolve("--evolve-stages=search")
    assert result.ret == 0
    assert file.read_bytes() == text
    report = json.loads((suite.path / "report.json").read_text())
    assert report["skill"]["name"] == "demo"
    assert any("frontmatter" in warning for warning in report["warnings"])


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("---\nname: demo\ndescription: x\n---\n".encode("utf-16"), "UTF-16"),
        (b"---\nname: demo\nname: twice\n---\nbody\n", "SKILL.md:3"),
        (None, "is not in skills/"),
    ],
    ids=["utf-16", "duplicate-key", "missing"],
)
def test_a_skill_that_cannot_be_read_is_a_usage_error(
    suite: pytest.Pytester, write_skill: Callable[..., Path], content: bytes | None, line: str
) -> None:
    if content is None:
        (suite.path / "skills/demo/SKILL.md").unlink()
        (suite.path / "skills/demo").rmdir()
    else:
        write_skill("demo", content)
    _usage_error(suite.runpytest("--evolve"), line)


def test_a_case_skipped_in_every_run_is_left_out_and_named(evolve: Evolve, suite: pytest.Pytester) -> None:
    source = (suite.path / "test_suite.py").read_text()
    suite.makepyfile(
        test_suite=source.replace(
            "    rollout.record", "    if n in (3, 14): pytest.skip('no data here')\n    rollout.record"
        )
    )
    result = evolve()
    assert result.ret == 0
    report = json.loads((suite.path / "report.json").read_text())
    assert {row["case"] for row in report["dataset"]["left_out"]} == {
        "test_suite.py::test_it[c3]",
        "test_suite.py::test_it[c14]",
    }
    assert report["confirmation"]["holdout"]["cases"] == 7
    result.stdout.fnmatch_lines(["*no data here*"])


def test_a_case_skipped_for_one_version_only_is_an_error(suite: pytest.Pytester, evolve: Evolve) -> None:
    source = (suite.path / "test_suite.py").read_text()
    suite.makepyfile(
        test_suite=source.replace(
            "    rollout.record", "    if 'tip' in skill.text: pytest.skip('no')\n    rollout.record"
        )
    )
    _usage_error(evolve(), "test_suite.py::test_it*skipped")
