"""How a search is told to go: policies, proposers, baselines, caps, cache, forks, and what is kept of it to be read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pytest_skillevo.cli import main as skillevo
from pytest_skillevo.stages.settings import Settings
from pytest_skillevo.store import Store

Evolve = Callable[..., pytest.RunResult]

COUNT = '    with open("runs.txt", "a") as file: file.write("x")\n    rollout.record'


def _report(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report


def _edit(suite: pytest.Pytester, old: str, new: str, file: str = "test_suite.py") -> None:
    path = suite.path / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def _runs(suite: pytest.Pytester) -> int:
    file = suite.path / "runs.txt"
    count = file.stat().st_size if file.exists() else 0
    file.unlink(missing_ok=True)
    return count


# Policies and proposers.


@pytest.mark.parametrize(
    "options",
    [
        ("--evolve-parent=current-best", "--evolve-sampler=hardest", "--evolve-component=blamed"),
        ("--evolve-acceptance=or-equal", "--evolve-validation=racing", "--evolve-width=2", "--evolve-merges=1"),
        ("--evolve-frontier=hybrid", "--evolve-cost=size", "--evolve-epsilon=0.02", "--evolve-patience=5"),
        ("--evolve-minibatch=2", "--evolve-threshold=0.95", "--evolve-parent=reference", "--evolve-validation=bound"),
    ],
)
def test_every_policy_can_be_named_on_the_command_line(
    evolve: Evolve, suite: pytest.Pytester, options: tuple[str, ...]
) -> None:
    assert evolve("--evolve-stages=search", *options).ret == 0
    assert _report(suite.path)["search"]["best_score"] == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("option", "line"),
    [
        ("--evolve-parent=paretto", "parent policy 'paretto'. Did you mean 'pareto'?"),
        ("--evolve-proposer=nobody", "--evolve-proposer=nobody: no plugin or conftest offers it"),
        ("--evolve-method=magic", "--evolve-method=magic: expected one of gepa, seed, no-skill, best-of-n"),
        ("--evolve-threshold=1.2", "--evolve-threshold=1.2: expected a number above 0 and below 1"),
        ("--evolve-max-cost-growth=0.9", "--evolve-max-cost-growth=0.9: expected a number, 1 or more"),
        ("--evolve-fork", "--evolve-fork needs --evolve-resume=ID"),
        ("--evolve-max-reflection-usd=1", "--evolve-max-reflection-usd=1 cannot hold: nobody knows the price"),
    ],
)
def test_a_wrong_choice_is_refused_before_anything_runs(suite: pytest.Pytester, option: str, line: str) -> None:
    _edit(suite, "    priced = True", "    priced = False", "conftest.py")
    result = suite.runpytest("--evolve", "--evolve-model=scripted", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert line in result.stderr.str()


def test_a_policy_of_a_conftest_is_asked(evolve: Evolve, suite: pytest.Pytester) -> None:
    hook = """
def pytest_skillevo_policy(kind, name, config):
    if (kind, name) == ("acceptance", "never"):
        return lambda parent, child: False
"""
    (suite.path / "conftest.py").write_text((suite.path / "conftest.py").read_text() + hook)
    evolve("--evolve-acceptance=never")
    assert _report(suite.path)["search"]["accepted"] == 0


def test_a_candidate_that_costs_too_much_is_refused_with_its_reason(
    evolve: Evolve, suite: pytest.Pytester, capsys: pytest.CaptureFixture[str]
) -> None:
    use = '    rollout.usage("agent", input_tokens=250 if "tip" in skill.text else 100, output_tokens=0)\n    rollout.record'
    _edit(suite, "    rollout.record", use)
    assert evolve("--evolve-stages=search").ret == 0
    assert _report(suite.path)["search"]["accepted"] == 1
    evolve("--evolve-stages=search", "--evolve-max-cost-growth=2.5")
    assert _report(suite.path)["search"]["accepted"] == 1
    evolve("--evolve-stages=search", "--evolve-max-cost-growth=2", "--evolve-pace=0")
    assert _report(suite.path)["search"]["accepted"] == 0
    capsys.readouterr()
    assert skillevo(["experiments", "show", "last"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "its cost (tokens) is above 2 times the seed skill's, 250 a validation rollout after 100" in shown


def test_the_record_of_an_experiment_without_a_limit_on_cost_is_what_it_was_before_there_was_one() -> None:
    assert "max_cost_growth" not in Settings().to_json()
    assert Settings(max_cost_growth=1.5).to_json() == {**Settings().to_json(), "max_cost_growth": 1.5}


def test_a_limit_on_cost_that_nobody_can_watch_is_refused(evolve: Evolve, suite: pytest.Pytester) -> None:
    result = evolve("--evolve-stages=search", "--evolve-max-cost-growth=2")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "reports no tokens, so there is no cost to compare" in result.stderr.str()


PROPOSER = """
def propose(brief, seed):
    assert brief.records and 0 <= seed
    return brief.parent.components[brief.component] + "\\n3. Use the tip."

def pytest_skillevo_proposer(name, config):
    return {"mine": propose, "broken": lambda brief, seed: 1 / 0, "odd": lambda brief, seed: None}.get(name)
"""


def test_a_proposer_without_a_model_evolves_a_skill_and_costs_no_tokens(evolve: Evolve, suite: pytest.Pytester) -> None:
    (suite.path / "conftest.py").write_text((suite.path / "conftest.py").read_text() + PROPOSER)
    assert evolve("--evolve-proposer=mine", "--evolve-component=round-robin").ret == 0
    report = _report(suite.path)
    assert report["decision"]["verdict"] == "ACCEPT"
    assert report["usage"]["reflection"]["input_tokens"] == 0


@pytest.mark.parametrize(
    ("name", "line"),
    [("broken", "the proposer 'broken' failed with ZeroDivisionError"), ("odd", "must give the new text of 'steps'")],
)
def test_a_proposer_that_fails_is_named(evolve: Evolve, suite: pytest.Pytester, name: str, line: str) -> None:
    (suite.path / "conftest.py").write_text((suite.path / "conftest.py").read_text() + PROPOSER)
    result = evolve(f"--evolve-proposer={name}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert line in result.stderr.str()


# Baselines and caps.


@pytest.mark.parametrize("method", ["seed", "no-skill"])
def test_a_baseline_that_only_measures_changes_nothing(evolve: Evolve, suite: pytest.Pytester, method: str) -> None:
    assert evolve(f"--evolve-method={method}").ret == 0
    report = _report(suite.path)
    assert report["decision"]["verdict"] == "NO_CHANGE"
    assert report["search"]["rollouts"] == {"seed": 4, "no-skill": 8}[method]
    assert report["decision"]["reason"].startswith("this baseline only measures: ")


def test_best_of_n_proposes_without_feedback(evolve: Evolve, suite: pytest.Pytester) -> None:
    assert evolve("--evolve-method=best-of-n").ret == 0
    report = _report(suite.path)
    assert report["search"]["rollouts"] == 4 + 3 * 4
    assert all(event["minibatch_parent"] is None for event in report["search"]["events"])


def test_a_token_cap_that_cannot_hold_stops_after_one_rollout(evolve: Evolve, suite: pytest.Pytester) -> None:
    _edit(suite, "    rollout.record", COUNT)
    result = evolve("--evolve-max-tokens=1000")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: the search stopped before the * skill was validated:*unknown*"])
    assert _runs(suite) == 1


# Cache and fork.


def test_a_longer_search_takes_what_an_earlier_one_has_answered(evolve: Evolve, suite: pytest.Pytester) -> None:
    _edit(suite, "    rollout.record", COUNT)
    evolve("--evolve-stages=search")
    first, calls = _report(suite.path), _runs(suite)
    evolve("--evolve-stages=search", "--evolve-iterations=4")
    second, more = _report(suite.path), _runs(suite)
    assert calls == first["search"]["rollouts"]
    assert more == second["search"]["rollouts"] - calls
    assert second["search"]["events"][:3] == first["search"]["events"]
    assert any("came from earlier searches" in note for note in second["decision"]["notes"])


def test_the_cache_changes_no_result_and_can_be_left_out(evolve: Evolve, suite: pytest.Pytester) -> None:
    _edit(suite, "    rollout.record", COUNT)
    evolve("--evolve-stages=search")
    _runs(suite)
    evolve("--evolve-stages=search", "--evolve-iterations=4", "--evolve-report=with.json")
    warm = json.loads((suite.path / "with.json").read_text())
    _runs(suite)
    evolve(
        "--evolve-stages=search", "--evolve-iterations=4", "--evolve-no-cache", "-o", "skillevo_home=other",
        "--evolve-report=without.json",
    )  # fmt: skip
    cold = json.loads((suite.path / "without.json").read_text())
    assert warm["search"] == cold["search"]
    assert _runs(suite) == cold["search"]["rollouts"]


def test_confirmation_and_replay_always_run(evolve: Evolve, suite: pytest.Pytester) -> None:
    _edit(suite, "    rollout.record", COUNT)
    evolve("--evolve-stages=search")
    _runs(suite)
    evolve()
    rollouts = _report(suite.path)["rollouts"]
    assert _runs(suite) == rollouts["confirmation"] + rollouts["critical_reruns"] + rollouts["replay"]


def test_a_changed_evaluator_is_answered_anew(evolve: Evolve, suite: pytest.Pytester) -> None:
    _edit(suite, "    rollout.record", COUNT)
    evolve("--evolve-stages=search")
    _runs(suite)
    _edit(suite, "0.4", "0.3")
    evolve("--evolve-stages=search")
    assert _runs(suite) == _report(suite.path)["search"]["rollouts"]


def test_infrastructure_failures_are_not_kept(evolve: Evolve, suite: pytest.Pytester) -> None:
    failing = (
        "    import pathlib\n    from pytest_skillevo import InfrastructureError\n"
        '    if n == 4 and not pathlib.Path("up").exists(): raise InfrastructureError("provider away")\n'
    )
    _edit(suite, "    rollout.record", failing + COUNT)
    assert evolve("--evolve-stages=search").ret == 1
    _runs(suite)
    (suite.path / "up").touch()
    assert evolve("--evolve-stages=search", "--evolve-seed=1", "--evolve-iterations=2").ret == 0
    assert _runs(suite) >= 1


def test_a_changed_skill_refuses_to_resume_and_a_fork_reuses_what_still_holds(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    _edit(suite, "    rollout.record", COUNT)
    _edit(
        suite,
        "    rollout.record",
        '    import os\n    if os.path.getsize("runs.txt") == 12 and not os.path.exists("go"): raise KeyboardInterrupt\n    rollout.record',
    )
    interrupted = suite.runpytest_subprocess(
        "--evolve", "--evolve-model=scripted", "--evolve-iterations=3", "--evolve-report=report.json"
    )
    assert interrupted.ret == pytest.ExitCode.INTERRUPTED
    interrupted.stdout.fnmatch_lines(["*--evolve-resume=ex-*; nothing better than the * skill was found*"])
    (suite.path / "go").touch()
    first = _runs(suite)
    _edit(suite, "2. Answer it.", "2. Answer it well.", "skills/demo/SKILL.md")
    refused = evolve("--evolve-resume=last")
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["ERROR: --evolve-resume=last:*the seed skill was * and is *--evolve-fork*"])
    _edit(suite, "2. Answer it well.", "2. Answer it.", "skills/demo/SKILL.md")
    forked = evolve("--evolve-resume=last", "--evolve-fork", "--evolve-iterations=2", "--evolve-stages=search")
    assert forked.ret == 0
    assert _runs(suite) == _report(suite.path)["search"]["rollouts"] - (first - 1)
    with Store.open(suite.path / ".skillevo") as store:
        newest, oldest = store.experiments("demo")
        assert newest.settings["forked_from"] == oldest.id


# What is kept to be read.


def test_a_finished_search_can_be_listed_shown_and_exported(
    evolve: Evolve, suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evolve()
    monkeypatch.chdir(suite.path)
    capsys.readouterr()
    assert skillevo(["experiments", "list"]) == 0
    assert "ACCEPT" in capsys.readouterr().out
    assert skillevo(["experiments", "show", "last"]) == 0
    shown = capsys.readouterr().out
    assert "c1" in shown
    assert "0.9000" in shown
    assert "test_suite.py::test_it[c3]  0.40  0.90" in shown
    assert "c14" not in shown
    assert skillevo(["experiments", "show", "last", "c1"]) == 0
    assert "+3. Use the tip." in capsys.readouterr().out
    assert skillevo(["experiments", "tree", "last"]) == 0
    assert capsys.readouterr().out == "c0 0.4000\n  c1 steps 0.9000 <- best\n"
    assert skillevo(["experiments", "export", "last", "out"]) == 0
    out = suite.path / "out"
    assert "3. Use the tip." in (out / "candidates/c1/components/02-steps.md").read_text()
    assert (out / "candidates/c1/change.diff").read_text().endswith("+3. Use the tip.\n")
    assert "the tip was not used" in (out / "hardest.md").read_text()
    assert "Be kind" in (out / "rejected.md").read_text()
    assert json.loads((out / "experiment.json").read_text())["state"] == "ACCEPT"
    assert not any("c14" in path.read_text() for path in out.rglob("*") if path.is_file())
    assert skillevo(["experiments", "export", "last", "out"]) == 4
    assert "is not empty" in capsys.readouterr().err


def test_an_unfinished_experiment_is_resumed_from_the_command_line(
    suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    _edit(
        suite,
        "    rollout.record",
        '    import os\n    if not os.path.exists("go") and n == 2: raise KeyboardInterrupt\n    rollout.record',
    )
    suite.runpytest_subprocess(
        "--evolve", "--evolve-model=scripted", "--evolve-iterations=3", "--evolve-report=report.json"
    )
    monkeypatch.chdir(suite.path)
    capfd.readouterr()
    assert skillevo(["experiments", "list", "--json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)
    assert row["state"] == "unfinished"
    (suite.path / "go").touch()
    assert skillevo(["experiments", "resume", row["id"][:6]]) == 0
    assert _report(suite.path)["experiment"]["id"] == row["id"]
    assert skillevo(["experiments", "resume", "last"]) == 4
    assert "is finished" in capfd.readouterr().err


@pytest.mark.parametrize("command", [["show", "ex-no"], ["tree", "ex-no"], ["show", "last", "c9"]])
def test_what_is_not_there_is_said(
    evolve: Evolve,
    suite: pytest.Pytester,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    command: list[str],
) -> None:
    evolve("--evolve-stages=search", "--evolve-iterations=1")
    monkeypatch.chdir(suite.path)
    assert skillevo(["experiments", *command]) == 1
    assert "there is no" in capsys.readouterr().err
