"""Infrastructure errors are no scores, and an interrupted experiment goes on where it stopped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Evolve = Callable[..., pytest.RunResult]


def _report(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report


def _with_body(suite: pytest.Pytester, extra: str, before: str = "    rollout.record") -> None:
    source = (suite.path / "test_suite.py").read_text()
    lines = "".join(f"    {line}\n" for line in extra.splitlines())
    suite.makepyfile(test_suite=source.replace(before, f"{lines}{before}"))


FAIL_ONCE = """
import pathlib
from pytest_skillevo import InfrastructureError
mark = pathlib.Path(f"failed-{n}")
if not mark.exists():
    mark.touch()
    raise InfrastructureError("provider away")
"""


def test_an_infrastructure_error_is_retried_and_is_no_score(evolve: Evolve, suite: pytest.Pytester) -> None:
    _with_body(suite, FAIL_ONCE)
    result = evolve()
    assert result.ret == 0
    report = _report(suite.path)
    assert report["decision"]["verdict"] == "ACCEPT"
    assert report["rollouts"]["retried"] == len(list(suite.path.glob("failed-*")))
    assert report["confirmation"]["holdout"]["missing_pairs"] == 0


def test_an_error_in_setup_is_no_score_either(evolve: Evolve, suite: pytest.Pytester) -> None:
    source = (suite.path / "test_suite.py").read_text().replace("(skill, rollout, n)", "(skill, rollout, n, flaky)")
    suite.makepyfile(
        test_suite=source
        + """
import pathlib

@pytest.fixture(scope="module")
def flaky():
    mark = pathlib.Path("failed")
    if not mark.exists():
        mark.touch()
        raise OSError("disk away")
"""
    )
    assert evolve().ret == 0
    report = _report(suite.path)
    assert report["rollouts"]["retried"] == 1
    assert report["decision"]["verdict"] == "ACCEPT"


def test_a_candidate_that_only_errs_is_rejected_and_the_search_goes_on(evolve: Evolve, suite: pytest.Pytester) -> None:
    suite.makeconftest(
        (suite.path / "conftest.py").read_text().replace('["Use the tip."', '["Break it.", "Use the tip."')
    )
    _with_body(
        suite,
        'if "Break it" in skill.text:\n    from pytest_skillevo import InfrastructureError\n    raise InfrastructureError("gone")',
    )
    evolve("--evolve-iterations=4")
    report = _report(suite.path)
    verdicts = [event["verdict"] for event in report["search"]["events"]]
    assert "evaluator_error" in verdicts[0] or "error" in verdicts[0]
    assert report["decision"]["verdict"] == "ACCEPT"


def test_when_the_present_skill_errs_too_the_run_stops_and_can_go_on(evolve: Evolve, suite: pytest.Pytester) -> None:
    _with_body(
        suite,
        "import pathlib\nfrom pytest_skillevo import InfrastructureError\n"
        'if not pathlib.Path("up").exists(): raise InfrastructureError("provider away")',
    )
    result = evolve()
    assert result.ret == 1
    result.stdout.fnmatch_lines(
        ["skillevo: the search stopped (evaluator_error):*nothing is decided*--evolve-resume=ex-*"]
    )
    assert not (suite.path / "report.json").exists()
    (suite.path / "up").touch()
    assert evolve("--evolve-resume=last").ret == 0
    assert _report(suite.path)["decision"]["verdict"] == "ACCEPT"


def test_missing_holdout_runs_block_the_verdict(evolve: Evolve, suite: pytest.Pytester) -> None:
    _with_body(
        suite,
        "from pytest_skillevo import InfrastructureError\nif n > 12: raise InfrastructureError('provider away')",
    )
    result = evolve()
    assert result.ret == 1
    report = _report(suite.path)
    assert (report["decision"]["verdict"], report["decision"]["rule"]) == ("BLOCKED", "missing-runs")
    assert report["revision"] is None


def _command(*arguments: str) -> list[str]:
    options = ["--evolve", "--evolve-model=scripted", "--evolve-iterations=3", "--evolve-report=report.json"]
    return [sys.executable, "-m", "pytest", *options, *arguments]


def _facts(report: dict[str, Any]) -> dict[str, Any]:
    """The report without what may differ between two runs of one experiment: ids, times, command, retries."""
    kept = {key: report[key] for key in ("skill", "dataset", "search", "confirmation", "replay", "decision", "usage")}
    return json.loads(json.dumps(kept))  # type: ignore[no-any-return]


@pytest.mark.parametrize("at", [2, 9, 30, 90])
def test_a_killed_run_resumes_without_repeating_a_committed_rollout_and_ends_the_same(
    evolve: Evolve, suite: pytest.Pytester, at: int
) -> None:
    _with_body(
        suite,
        'import os, signal\nwith open("runs.txt", "a") as file: file.write("x")\n'
        'if os.path.getsize("runs.txt") == int(os.environ.get("KILL_AT", "0")): os.kill(os.getpid(), signal.SIGKILL)',
    )
    evolve()
    expected = _facts(_report(suite.path))
    shutil.rmtree(suite.path / ".skillevo")
    (suite.path / "runs.txt").unlink()
    environment = {**os.environ, "KILL_AT": str(at)}
    killed = subprocess.run(_command(), cwd=suite.path, env=environment, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    resumed = suite.runpytest_subprocess(*_command("--evolve-resume=last")[3:])
    assert resumed.ret == 0, resumed.stdout.str()
    report = _report(suite.path)
    assert _facts(report) == expected
    total = sum(report["rollouts"][stage] for stage in ("search", "confirmation", "critical_reruns", "replay"))
    assert (suite.path / "runs.txt").stat().st_size == total + 1  # only the rollout in flight ran twice


def test_ctrl_c_says_how_to_go_on(evolve: Evolve, suite: pytest.Pytester) -> None:
    _with_body(
        suite,
        'import os\nwith open("runs.txt", "a") as file: file.write("x")\n'
        'if os.path.getsize("runs.txt") == 12: raise KeyboardInterrupt',
    )
    result = suite.runpytest_subprocess(*_command()[3:])
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["skillevo: interrupted; nothing is lost: go on with --evolve-resume=ex-*"])
    assert suite.runpytest_subprocess(*_command("--evolve-resume=last")[3:]).ret == 0
    assert _report(suite.path)["decision"]["verdict"] == "ACCEPT"


@pytest.mark.parametrize("returncode", ["", ", returncode=0"])
def test_a_test_that_ends_the_session_leaves_a_resumable_run_and_no_success(
    evolve: Evolve, suite: pytest.Pytester, returncode: str
) -> None:
    _with_body(
        suite,
        'import os\nwith open("runs.txt", "a") as file: file.write("x")\n'
        f'if os.path.getsize("runs.txt") == 12: pytest.exit("enough"{returncode})',
    )
    result = evolve()
    assert result.ret == pytest.ExitCode.INTERRUPTED
    result.stdout.fnmatch_lines(["skillevo: interrupted; nothing is lost: go on with --evolve-resume=ex-*"])
    assert not (suite.path / "report.json").exists()
    assert evolve("--evolve-resume=last").ret == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_child_that_comes_back_does_not_go_on_with_the_experiment(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    _with_body(
        suite,
        "import os\nif n == 1:\n    child = os.fork()\n    if child == 0: raise SystemExit\n    os.waitpid(child, 0)",
    )
    assert suite.runpytest_subprocess(*_command()[3:]).ret == 0
    assert _report(suite.path)["decision"]["verdict"] == "ACCEPT"


@pytest.mark.parametrize("ending", ["raise OSError('away')", "pytest.skip('late')", "raise SystemExit(0)"])
def test_an_error_after_the_last_rollout_is_told_and_takes_nothing_back(
    evolve: Evolve, suite: pytest.Pytester, ending: str
) -> None:
    source = (suite.path / "test_suite.py").read_text().replace("(skill, rollout, n)", "(skill, rollout, n, wide)")
    suite.makepyfile(test_suite=source + f"\n@pytest.fixture(scope='session')\ndef wide():\n    yield\n    {ending}\n")
    result = evolve()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["skillevo: after the last rollout, teardown of a wide fixture failed*"])
    assert _report(suite.path)["decision"]["verdict"] == "ACCEPT"


@pytest.mark.parametrize("hiding", ["@pytest.fixture\ndef skill(): return object()\n", ""])
def test_a_case_that_never_sees_the_version_on_trial_is_refused(
    evolve: Evolve, suite: pytest.Pytester, hiding: str
) -> None:
    body = "def test_blind(skill, rollout): rollout.record(score=0.5)\n"
    if not hiding:
        body = "@pytest.mark.parametrize('skill', ['a'])\n" + body
    suite.makepyfile(
        test_blind="import pytest\n" + hiding + "@pytest.mark.skill('demo')\n@pytest.mark.split('validation')\n" + body
    )
    result = evolve()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: test_blind.py::test_blind*: ran without the version on trial*"])


def test_a_changed_decimal_context_changes_no_money(evolve: Evolve, suite: pytest.Pytester) -> None:
    _with_body(
        suite,
        "import decimal\ndecimal.getcontext().prec = 2\ndecimal.getcontext().traps[decimal.Inexact] = True\n"
        'rollout.usage("agent", input_tokens=1, output_tokens=1, usd="1.00001")',
    )
    assert evolve().ret == 0
    report = _report(suite.path)
    total = sum(report["rollouts"][stage] for stage in ("search", "confirmation", "critical_reruns", "replay"))
    assert report["usage"]["agent"]["usd"] == f"{total * 1.00001:.5f}"


def test_a_changed_setting_refuses_to_resume(evolve: Evolve, suite: pytest.Pytester) -> None:
    _with_body(suite, "if n == 1: raise KeyboardInterrupt")
    suite.runpytest_subprocess(*_command()[3:])
    result = suite.runpytest_subprocess(*_command("--evolve-resume=last", "--evolve-seed=9")[3:])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --evolve-resume=last: *these settings differ: seed*"])


def test_a_setting_that_was_given_at_the_start_and_is_left_out_now_refuses_to_resume(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    _with_body(suite, "if n == 1: raise KeyboardInterrupt")
    suite.runpytest_subprocess(*_command("--evolve-cost=size", "--evolve-max-cost-growth=3")[3:])
    result = suite.runpytest_subprocess(*_command("--evolve-resume=last", "--evolve-cost=size")[3:])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --evolve-resume=last: *these settings differ: max_cost_growth*"])


def test_a_case_file_that_changes_during_the_run_stops_it(evolve: Evolve, suite: pytest.Pytester) -> None:
    _with_body(
        suite,
        'if n > 6:\n    with open(__file__, "a") as file: file.write("# changed\\n")',
    )
    result = evolve()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: a test module, conftest, family or evaluator file, or the skill on disk, changed*"]
    )


def test_a_case_file_that_changes_during_the_search_stops_a_run_that_changes_nothing(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    suite.makepyfile(test_suite=(suite.path / "test_suite.py").read_text().replace('0.9 if "tip"', '0.4 if "tip"'))
    _with_body(suite, 'with open(__file__, "a") as file: file.write("# changed\\n")')
    result = evolve()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["ERROR: a test module, conftest, family or evaluator file, or the skill on disk, changed*"]
    )


def test_a_skill_that_changes_on_disk_during_the_run_stops_it(evolve: Evolve, suite: pytest.Pytester) -> None:
    _with_body(suite, 'with open("skills/demo/SKILL.md", "a") as file: file.write("More.\\n")')
    result = evolve()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: *the skill on disk, changed while the experiment ran*"])


def test_a_store_that_is_removed_during_the_run_is_no_success(evolve: Evolve, suite: pytest.Pytester) -> None:
    _with_body(suite, "import shutil\nif n == 14: shutil.rmtree('.skillevo', ignore_errors=True)")
    result = evolve()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "Traceback" not in result.stderr.str() + result.stdout.str()


def test_what_the_judge_used_is_counted(evolve: Evolve, suite: pytest.Pytester) -> None:
    suite.makeconftest(
        (suite.path / "conftest.py")
        .read_text()
        .replace("NO_USAGE)", 'Usage(3, 4, 0, 0, Decimal("0.5")))')
        .replace("import NO_USAGE", "import Usage\nfrom decimal import Decimal")
    )
    source = (suite.path / "test_suite.py").read_text().replace("(skill, rollout, n)", "(skill, rollout, n, judge)")
    suite.makepyfile(
        test_suite=source.replace(
            "    rollout.record", '    judge.complete([{"role": "user", "content": ""}], seed=1)\n    rollout.record'
        )
    )
    evolve("--evolve-stages=search")
    report = _report(suite.path)
    judged = report["usage"]["judge"]
    rollouts = report["rollouts"]["search"]
    assert (judged["input_tokens"], judged["usd"]) == (3 * rollouts, f"{rollouts * 0.5:.1f}")


def test_an_evaluator_glob_that_matches_nothing_is_refused(suite: pytest.Pytester) -> None:
    suite.makeini("[pytest]\nskillevo_evaluator_files = grading/*.py\n")
    result = suite.runpytest("--evolve")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: skillevo_evaluator_files: 'grading/[*].py' matches no file*"])
