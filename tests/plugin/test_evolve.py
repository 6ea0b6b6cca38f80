"""`pytest --evolve` from cases to a decision, on a scripted reflection model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from pytest_skillevo.cli import main as skillevo
from pytest_skillevo.core.revisions import Status
from pytest_skillevo.report.schema import report_schema
from pytest_skillevo.store import Store

Evolve = Callable[..., pytest.RunResult]


def _report(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report


def test_a_better_version_is_accepted_and_waits_while_the_seed_stays_as_it_is(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    before = (suite.path / "skills/demo/SKILL.md").read_bytes()
    result = evolve()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*demo: ACCEPT, waiting for approval (simulated model)*", "ACCEPT: *"])
    report = _report(suite.path)
    jsonschema.validate(report, report_schema())
    assert report["decision"]["verdict"] == "ACCEPT"
    assert report["confirmation"]["holdout"]["better"] == 8
    assert report["revision"]["status"] == "pending_approval"
    assert (suite.path / "skills/demo/SKILL.md").read_bytes() == before
    with Store.open(suite.path / ".skillevo") as store:
        (revision,) = store.revisions("demo")
        assert revision.status is Status.PENDING_APPROVAL
        assert "tip" in store.skill_of(revision).text


def test_an_approved_version_is_what_plain_runs_use_and_rollback_restores_the_bytes(
    evolve: Evolve, suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = suite.path / "skills/demo/SKILL.md"
    before = file.read_bytes()
    evolve()
    revision = _report(suite.path)["revision"]["id"]
    monkeypatch.chdir(suite.path)
    assert skillevo(["revisions", "approve", revision, "--reason", "reads well"]) == 0
    assert b"tip" in file.read_bytes()
    suite.runpytest().assert_outcomes(passed=15)
    assert skillevo(["revisions", "rollback", "demo", "--reason", "changed my mind"]) == 0
    assert file.read_bytes() == before


def test_a_report_brings_its_revision_into_another_store(
    evolve: Evolve, suite: pytest.Pytester, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    extra = suite.path / "skills/demo/scripts/run.sh"
    extra.parent.mkdir()
    extra.write_bytes(b"#!/bin/sh\r\nexit 0\r\n")  # its line ends would not survive as text of a report
    evolve()
    report = _report(suite.path)
    jsonschema.validate(report, report_schema())
    team = tmp_path_factory.mktemp("team")
    shutil.copytree(suite.path / "skills", team / "skills")
    shutil.copy(suite.path / "report.json", team / "report.json")
    monkeypatch.chdir(team)
    assert skillevo(["revisions", "import", "report.json"]) == 0
    with Store.open(team / ".skillevo", skills=team / "skills") as store:
        (revision,) = store.revisions("demo")
        assert (revision.status, revision.digest) == (Status.PENDING_APPROVAL, report["skill"]["after"])
    assert skillevo(["revisions", "approve", revision.id]) == 0
    assert "tip" in (team / "skills/demo/SKILL.md").read_text(encoding="utf-8")


def test_a_report_does_not_carry_the_files_of_a_skill_that_holds_a_secret(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    key = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    (suite.path / "skills/demo/notes.bin").write_bytes(b"\0" + key.encode())
    evolve("-o", "skillevo_gates=spec effectiveness human")
    report = _report(suite.path)
    assert report["revision"] is not None
    assert report["skill"]["versions"] is None
    assert key not in (suite.path / "report.json").read_text(encoding="utf-8")


def test_gates_are_set_in_the_ini_file_for_runs_and_for_the_command_line(
    evolve: Evolve, suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with (suite.path / "tox.ini").open("a", encoding="utf-8") as file:
        file.write("\nskillevo_gate_min_steps = 3\nskillevo_protected = demo\n")
    evolve()
    revision = _report(suite.path)["revision"]["id"]
    monkeypatch.chdir(suite.path)
    assert skillevo(["revisions", "show", revision, "--json"]) == 0
    assert "steps 3" in capsys.readouterr().out
    assert skillevo(["revisions", "approve", revision]) != 0
    assert "protected" in capsys.readouterr().err


def test_the_same_experiment_again_shows_the_recorded_verdict_and_runs_nothing(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    evolve()
    first = _report(suite.path)
    again = evolve()
    assert again.ret == 0
    again.stdout.fnmatch_lines(["*ACCEPT, as recorded*"])
    second = _report(suite.path)
    assert second["experiment"]["recorded"] is True
    assert second["experiment"]["id"] == first["experiment"]["id"]


def test_a_search_after_the_holdout_was_opened_cannot_be_accepted(evolve: Evolve, suite: pytest.Pytester) -> None:
    evolve()
    result = evolve("--evolve-seed=2")
    assert result.ret == 0
    report = _report(suite.path)
    assert report["decision"]["verdict"] == "INCONCLUSIVE"
    assert report["decision"]["rule"] == "holdout-exposed"
    assert report["revision"]["status"] == "pending_eval"


def test_a_search_alone_confirms_nothing(evolve: Evolve, suite: pytest.Pytester) -> None:
    evolve("--evolve-stages=search")
    report = _report(suite.path)
    assert (report["decision"]["verdict"], report["decision"]["rule"]) == ("INCONCLUSIVE", "not-confirmed")
    assert report["confirmation"] is None


def test_no_better_version_is_no_change_and_leaves_no_revision(evolve: Evolve, suite: pytest.Pytester) -> None:
    suite.makepyfile(test_suite=(suite.path / "test_suite.py").read_text().replace('0.9 if "tip"', '0.4 if "tip"'))
    result = evolve()
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*demo: NO CHANGE*"])
    report = _report(suite.path)
    assert report["decision"]["verdict"] == "NO_CHANGE"
    assert report["revision"] is None
    with Store.open(suite.path / ".skillevo") as store:
        assert store.revisions("demo") == ()


def test_a_partial_selection_may_search_but_not_decide(evolve: Evolve, suite: pytest.Pytester) -> None:
    result = evolve("-k", "not c14")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["INCONCLUSIVE: the dataset is partial (1 case was deselected*"])
    report = _report(suite.path)
    assert (report["decision"]["verdict"], report["decision"]["rule"]) == ("INCONCLUSIVE", "partial-dataset")
    assert report["confirmation"] is None


def test_maxfail_does_not_cut_the_experiment_short(evolve: Evolve, suite: pytest.Pytester) -> None:
    assert evolve("-x").ret == 0
    assert _report(suite.path)["decision"]["verdict"] == "ACCEPT"


def test_the_plan_runs_nothing_and_leaves_nothing(suite: pytest.Pytester) -> None:
    result = suite.runpytest("--evolve", "--evolve-plan")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["plan for skill demo (simulated model)", "*3 feedback, 4 validation, 8 holdout*"])
    result.stdout.fnmatch_lines(["nothing was run"])
    assert not (suite.path / ".skillevo").exists()


def test_every_case_is_reported_once_to_other_plugins(evolve: Evolve, suite: pytest.Pytester) -> None:
    result = evolve("--junitxml=out.xml")
    result.assert_outcomes(passed=12)
    xml = (suite.path / "out.xml").read_text(encoding="utf-8")
    assert xml.count("<testcase") == 12 + 1  # the decision is a case of its own
    assert 'name="skillevo.after" value="0.9' in xml


def test_wide_fixtures_live_through_the_experiment_and_narrow_ones_for_one_rollout(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    source = (suite.path / "test_suite.py").read_text()
    source = source.replace(
        "def test_it(skill, rollout, n):", "def test_it(skill, rollout, n, wide, narrow, tmp_path):"
    )
    suite.makepyfile(
        test_suite=source
        + """
import pathlib

@pytest.fixture(scope="session")
def wide():
    with open("wide.txt", "a") as file: file.write("up ")
    yield
    with open("wide.txt", "a") as file: file.write("down ")

@pytest.fixture
def narrow():
    with open("narrow.txt", "a") as file: file.write("up ")
    yield
    with open("narrow.txt", "a") as file: file.write("down ")
"""
    )
    evolve()
    rollouts = _report(suite.path)["rollouts"]
    total = sum(rollouts[stage] for stage in ("search", "confirmation", "critical_reruns", "replay"))
    assert (suite.path / "wide.txt").read_text() == "up down "
    assert (suite.path / "narrow.txt").read_text() == "up down " * total


def test_other_plugins_hooks_run_for_each_rollout_and_their_reports_stay_out(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    suite.makeconftest(
        (suite.path / "conftest.py").read_text()
        + """
calls = []
logged = []
def pytest_runtest_call(item): calls.append(item.nodeid)
def pytest_runtest_logreport(report): logged.append(report.nodeid)
def pytest_sessionfinish():
    with open("hooks.txt", "w") as file: file.write(f"{len(calls)} {len(logged)}")
"""
    )
    evolve()
    rollouts = _report(suite.path)["rollouts"]
    total = sum(rollouts[stage] for stage in ("search", "confirmation", "critical_reruns", "replay"))
    assert (suite.path / "hooks.txt").read_text() == f"{total} {3 * 12}"


def test_a_failed_assert_is_feedback_for_the_reflection_model(evolve: Evolve, suite: pytest.Pytester) -> None:
    source = (suite.path / "test_suite.py").read_text()
    suite.makepyfile(
        test_suite=source.split("    rollout.record")[0] + '    assert "tip" in skill.text, "serve the tip please"\n'
    )
    suite.makeconftest(
        (suite.path / "conftest.py")
        .read_text()
        .replace(
            "        text = messages[-1]",
            "        open('prompt.txt', 'w').write(messages[-1]['content'])\n        text = messages[-1]",
        )
    )
    evolve("--evolve-iterations=1")
    assert "serve the tip please" in (suite.path / "prompt.txt").read_text()
    assert _report(suite.path)["decision"]["verdict"] == "ACCEPT"


def test_secrets_of_the_environment_reach_neither_store_nor_report_nor_screen(
    evolve: Evolve, suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "correct-horse-battery-staple-9000"
    monkeypatch.setenv("SERVICE_PASSWORD", secret)
    source = (suite.path / "test_suite.py").read_text()
    suite.makepyfile(
        test_suite="import os\n"
        + source.replace(
            'feedback="',
            'trace={"p": os.environ["SERVICE_PASSWORD"]}, feedback="sent " + os.environ["SERVICE_PASSWORD"] + " ',
        )
    )
    result = evolve("-o", f"cache_dir={secret}")
    assert secret not in result.stdout.str().split("collected", 1)[1] + result.stderr.str()
    for file in [*(suite.path / ".skillevo").rglob("*"), suite.path / "report.json"]:
        if file.is_file():
            assert secret.encode() not in file.read_bytes(), file


@pytest.mark.parametrize("verdict", ["as collected", "reversed"])
def test_the_order_of_collection_does_not_matter(evolve: Evolve, suite: pytest.Pytester, verdict: str) -> None:
    if verdict == "reversed":
        suite.makeconftest(
            (suite.path / "conftest.py").read_text() + "\ndef pytest_collection_modifyitems(items): items.reverse()\n"
        )
    evolve()
    search = _report(suite.path)["search"]
    events = [(event["component"], event["verdict"], event["validation"]) for event in search["events"]]
    assert events[0] == ("steps", "accepted", pytest.approx(0.9))
    # The second child run already decides the first minibatch: 1.8 is more than 1.2.
    assert search["rollouts"] == 4 + (3 + 2 + 4) + (3 + 3) + (3 + 3)


@pytest.mark.parametrize("plugins", ["no:terminal", "no:cacheprovider", "no:logging", "no:junitxml"])
def test_an_experiment_needs_none_of_pytests_own_plugins(evolve: Evolve, suite: pytest.Pytester, plugins: str) -> None:
    assert suite.runpytest_subprocess(*_options(), "-p", plugins).ret == 0
    assert _report(suite.path)["decision"]["verdict"] == "ACCEPT"


def _options() -> list[str]:
    return ["--evolve", "--evolve-model=scripted", "--evolve-iterations=3", "--evolve-report=report.json"]


def test_a_broken_module_stays_a_failure_when_collection_goes_on(evolve: Evolve, suite: pytest.Pytester) -> None:
    suite.makepyfile(test_broken="import nothing_of_that_name")
    assert evolve("--continue-on-collection-errors").ret == 1
    report = _report(suite.path)
    assert (report["decision"]["verdict"], report["decision"]["rule"]) == ("INCONCLUSIVE", "partial-dataset")


def test_a_skill_is_grown_from_nothing_created_on_approval_and_removed_by_rollback(
    evolve: Evolve, suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.rmtree(suite.path / "skills/demo")
    (suite.path / "skills").mkdir(exist_ok=True)
    source = (suite.path / "test_suite.py").read_text(encoding="utf-8")
    suite.makepyfile(test_suite=source.replace('skill("demo")', 'skill("demo", may_be_absent=True)'))
    models = (suite.path / "conftest.py").read_text(encoding="utf-8")
    steps = "1. Read the question.\\n2. Use the tip.\\n3. Answer it."
    suite.makeconftest(models.replace('["Use the tip.", "Be kind."]', f'["{steps}"]').replace("\\n3. {line}", "{line}"))
    evolve()
    report = _report(suite.path)
    assert report["decision"]["verdict"] == "ACCEPT", report["decision"]
    monkeypatch.chdir(suite.path)
    assert skillevo(["revisions", "approve", report["revision"]["id"]]) == 0
    assert "Use the tip." in (suite.path / "skills/demo/SKILL.md").read_text(encoding="utf-8")
    assert skillevo(["revisions", "rollback", "demo"]) == 0
    assert not (suite.path / "skills/demo").exists()


def test_a_version_that_could_not_be_published_is_rejected_before_the_holdout_is_opened(
    evolve: Evolve, suite: pytest.Pytester
) -> None:
    models = (suite.path / "conftest.py").read_text(encoding="utf-8")
    suite.makeconftest(models.replace('"Use the tip."', '"Use the tip: `rm -rf / --no-preserve-root`"'))
    result = evolve()
    assert result.ret == 0
    report = _report(suite.path)
    assert (report["decision"]["verdict"], report["decision"]["rule"]) == ("REJECT", "gate-refused")
    assert "safety gate refuses it" in report["decision"]["reason"]
    assert report["confirmation"] is None
    assert report["revision"] is None


def test_objectives_are_shown_before_and_after_and_decide_nothing(evolve: Evolve, suite: pytest.Pytester) -> None:
    source = (suite.path / "test_suite.py").read_text()
    suite.makepyfile(
        test_suite=source.replace("feedback=", 'objectives={"calls": 9.0 if "tip" in skill.text else 4.0}, feedback=')
    )
    evolve()
    report = _report(suite.path)
    assert report["confirmation"]["objectives"] == [{"name": "calls", "before": 4.0, "after": 9.0}]
    assert report["decision"]["verdict"] == "ACCEPT"


def test_a_gate_of_a_plugin_keeps_the_holdout_closed(evolve: Evolve, suite: pytest.Pytester) -> None:
    with (suite.path / "conftest.py").open("a", encoding="utf-8") as file:
        file.write(
            "\n\nfrom pytest_skillevo.core.gates.records import Finding, GateVerdict\n\n\n"
            "class NoTips:\n"
            "    version = 'no tips'\n\n"
            "    def judge(self, candidate):\n"
            "        found = 'tip' in candidate.skill.text\n"
            "        why = (Finding('safety', 'tip', 'tips are not allowed.'),) if found else ()\n"
            "        return GateVerdict('safety', self.version, not found, why)\n\n\n"
            "def pytest_skillevo_gate_safety(default, config):\n"
            "    return NoTips()\n"
        )
    evolve()
    report = _report(suite.path)
    assert (report["decision"]["verdict"], report["decision"]["rule"]) == ("REJECT", "gate-refused")
    assert "tips are not allowed" in report["decision"]["reason"]
    assert report["confirmation"] is None


def test_every_rollout_of_an_experiment_can_be_shown(
    evolve: Evolve, suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    evolve()
    monkeypatch.chdir(suite.path)
    capsys.readouterr()
    assert skillevo(["rollouts", "list", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    stages = ("search", "confirmation", "critical_reruns", "replay")
    searched = sum(_report(suite.path)["rollouts"][stage] for stage in stages)
    assert len(rows) == searched
    for stage, closed in (("search", False), ("confirm", True)):
        one = next(row for row in rows if row["stage"] == stage and (row["split"] == "holdout") is closed)
        assert skillevo(["rollouts", "show", one["id"], "--json"]) == 0
        assert (json.loads(capsys.readouterr().out)["closed"] is not None) is closed
