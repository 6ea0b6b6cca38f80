"""`pytest --evolve-gate`: what may be merged, by whose tests, and what never passes."""

from __future__ import annotations

import json
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from pytest_skillevo.cli import main
from pytest_skillevo.core.evidence import sealed
from pytest_skillevo.store import Store

from .gate_project import GateProject


@pytest.fixture
def project(pytester: pytest.Pytester) -> GateProject:
    return GateProject(pytester)


def shown(result: pytest.RunResult) -> str:
    return result.stdout.str() + result.stderr.str()


def told(result: pytest.RunResult, *parts: str) -> None:
    """The screen says all of this, in this order, however the lines are broken."""
    text, at = " ".join(shown(result).split()), 0
    for part in parts:
        found = text.find(part, at)
        assert found >= 0, f"{part!r} is not in {text[at:]}"
        at = found + len(part)


def evidence(project: GateProject) -> dict:
    return json.loads((project.path / "skillevo-evidence.json").read_text(encoding="utf-8"))


def test_a_harmless_fix_passes_and_its_evidence_holds_until_something_changes(
    project: GateProject, capsys: pytest.CaptureFixture[str]
) -> None:
    project.skill("demo", " Be kind.")
    result = project.gate("--evolve-repeats=1", "--junitxml=junit.xml")
    assert result.ret == 0, shown(result)
    told(result, "skill gate: PASS (1 changed skill may be merged)", "demo", "ACCEPT", "Not worse.")
    assert "skill gate: PASS" in (project.path / "skillevo-report.md").read_text(encoding="utf-8")
    cases = list(ET.parse(project.path / "junit.xml").getroot().iter("testcase"))
    assert len(cases) == 32
    assert cases[-1].get("name") == "demo"
    figures = {each.get("name"): each.get("value") for each in cases[0].iter("property")}
    assert figures["skillevo.split"] == "holdout"
    assert float(figures["skillevo.after"] or "") > 0.4
    assert project.git("status", "--porcelain", "--untracked-files=no") == "M skills/demo/SKILL.md"
    capsys.readouterr()
    assert main(["evidence", "verify", "--baseline=main"]) == 0
    assert "not signed" in capsys.readouterr().out

    project.skill("demo", " Be kind!")
    assert main(["evidence", "verify"]) == 1
    assert "stale: the skill demo changed after the gate ran" in capsys.readouterr().out
    project.skill("demo", " Be kind.")
    project.suite(cases=29)
    assert main(["evidence", "verify"]) == 1
    assert "stale: test_suite.py, which decides scores" in capsys.readouterr().out
    project.suite()
    project.skill("other")
    assert main(["evidence", "verify", "--baseline=main"]) == 1
    assert "stale: the skill other was not there" in capsys.readouterr().out
    edited = (
        (project.path / "skillevo-evidence.json").read_text(encoding="utf-8").replace('"margin": 0.1', '"margin": 0.2')
    )
    (project.path / "skillevo-evidence.json").write_text(edited, encoding="utf-8")
    assert main(["evidence", "verify"]) == 1
    assert "edited" in capsys.readouterr().out


def test_a_change_is_judged_by_the_tests_and_settings_that_it_did_not_write(project: GateProject) -> None:
    project.skill("demo", " Be slow.")
    project.suite(old="rollout.record(score=base", new="rollout.record(score=1 or base")
    project.pytester.makeini("[pytest]\naddopts = --strict-markers\nevolve_margin = 0.9\nevolve_repeats = 1\n")
    project.commit("slower, and a kinder test")
    result = project.gate("--evolve-repeats=1")
    assert result.ret == 1, shown(result)
    told(result, "skill gate: FAIL (1 of 1 changed skill may not be merged)", "demo", "REJECT", "Worse on 30")
    assert evidence(project)["passed"] is False
    assert main(["evidence", "verify"]) == 1


def test_a_critical_case_that_got_worse_fails_and_no_reason_helps(project: GateProject) -> None:
    project.skill("demo", " Be careless, with a tip.")
    result = project.gate("--evolve-repeats=1", "--evolve-accept-reason=I like it")
    assert result.ret == 1, shown(result)
    told(result, "demo", "REJECT", "critical case got worse", "overrides INCONCLUSIVE only")


def test_a_removed_critical_mark_fails(project: GateProject) -> None:
    project.skill("demo", " Be kind.")
    project.suite(old="@pytest.mark.critical\n", new="")
    result = project.gate("--evolve-repeats=1")
    assert result.ret == 1, shown(result)
    told(result, "demo", "BLOCKED", "takes away what judges it", "critical mark")


def test_nothing_is_run_and_all_passes_when_no_skill_changed(project: GateProject) -> None:
    project.git("checkout", "-q", "main")
    project.skill("demo", " Main went on.")
    project.commit("on main")
    project.git("checkout", "-q", "change")
    project.suite(cases=29)
    result = project.gate()
    assert result.ret == 0, shown(result)
    told(result, "skill gate: PASS (no skill changed)", "merge base with main")


def test_a_narrowed_run_never_passes(project: GateProject) -> None:
    project.skill("demo", " Be kind.")
    result = project.gate("-k", "critical")
    assert result.ret == 1, shown(result)
    told(result, "demo", "BLOCKED", "not all of its cases were selected", "deselected")


def test_inconclusive_passes_only_with_a_persons_reason_and_runs_nothing_twice(project: GateProject) -> None:
    project.git("checkout", "-q", "main")
    project.suite(cases=4)
    project.commit("fewer cases")
    project.git("checkout", "-q", "change")
    project.git("merge", "-q", "main")
    project.skill("demo", " Be kind.")
    result = project.gate("--evolve-repeats=1")
    assert result.ret == 1, shown(result)
    told(result, "demo", "INCONCLUSIVE")
    again = project.gate("--evolve-repeats=1", "--evolve-accept-reason=a typo only")
    assert again.ret == 0, shown(again)
    told(again, "a person lets it pass all the same: a typo only")
    accepted = evidence(project)["accepted"]
    assert accepted["reason"] == "a typo only"
    assert accepted["by"]


def test_a_skill_that_holds_the_text_of_a_holdout_case_never_passes(project: GateProject) -> None:
    secret = "the ferry to the island of Morla leaves at nine in the evening from pier four"
    project.git("checkout", "-q", "main")
    project.suite(cases=4, old='rollout.check("careful"', new=f'rollout.check("{secret}"')
    project.commit("a case with words of its own")
    project.git("checkout", "-q", "-B", "change")
    project.skill("demo", f" Say that {secret}.")
    result = project.gate("--evolve-repeats=1", "--evolve-accept-reason=fine")
    assert result.ret == 1, shown(result)
    told(result, "demo", "BLOCKED", "knows the cases that judge it", "12 words in a row of a holdout case")


def test_renamed_deleted_and_new_skills_are_judged(project: GateProject) -> None:
    folder = project.path / "skills" / "demo"
    folder.rename(project.path / "skills" / "show")
    project.suite(old='skill("demo")', new='skill("show")')
    project.skill(
        "fresh", " This skill is new, and it has many more words than the other, so that it is no copy of it. " * 9
    )
    project.commit("rename one and add one")
    result = project.gate("--evolve-repeats=1")
    assert result.ret == 1, shown(result)
    told(
        result,
        "1 of 2 changed skills may not be merged",
        "fresh",
        "BLOCKED",
        "no holdout case",
        "show",
        "ACCEPT",
        "the skill was renamed",
    )


def test_a_deleted_skill_that_was_of_use_may_not_go(project: GateProject) -> None:
    project.git("rm", "-q", "-r", "skills/demo", "test_suite.py")
    result = project.gate("--evolve-repeats=1")
    assert result.ret == 1, shown(result)
    told(result, "demo", "REJECT", "Worse on 30", "deleted")


def test_skipped_cases_never_pass(project: GateProject) -> None:
    project.git("checkout", "-q", "main")
    project.suite(old='    rollout.check("careful"', new='    pytest.skip("no key")\n    rollout.check("careful"')
    project.commit("skip")
    project.git("checkout", "-q", "-B", "change")
    project.skill("demo", " Be kind.")
    result = project.gate("--evolve-repeats=1")
    assert result.ret == 1, shown(result)
    told(result, "demo", "BLOCKED", "skipped itself")


def test_the_simulated_model_lets_nothing_pass_unless_it_is_allowed_to(project: GateProject) -> None:
    project.suite(old="def test_it(skill, rollout, n):", new="def test_it(skill, rollout, n, agent):")
    project.skill("demo", " Be kind.")
    base = project.path / "base" / "demo"
    base.mkdir(parents=True)
    (base / "SKILL.md").write_text(project.git("show", "main:skills/demo/SKILL.md") + "\n", encoding="utf-8")
    result = project.gate("--evolve-repeats=1", baseline="base")
    assert result.ret == 1, shown(result)
    told(result, "simulated model", "demo", "BLOCKED", "--allow-simulated")
    allowed = project.gate("--evolve-repeats=1", "--allow-simulated", baseline="base/demo")
    assert allowed.ret == 0, shown(allowed)
    told(allowed, "skill gate: PASS", "simulated model", "demo", "ACCEPT")


@pytest.mark.parametrize(
    "hostile",
    [
        "--output=pwned",
        "-x",
        "main; touch pwned",
        "$(touch pwned)",
        "`touch pwned`",
        "main\ntouch pwned",
        "nosuch",
        "rv-1",
    ],
)
def test_a_hostile_reference_is_neither_option_nor_command(project: GateProject, hostile: str) -> None:
    result = project.gate(baseline=hostile)
    assert result.ret == pytest.ExitCode.USAGE_ERROR, shown(result)
    assert "--evolve-baseline=" in result.stderr.str()
    assert not (project.path / "pwned").exists()


def test_wrong_usage_is_named(project: GateProject) -> None:
    result = project.pytester.runpytest("--evolve-gate")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "--evolve-gate needs --evolve-baseline=REF" in shown(result)
    for option in ("--evolve-resume=last", "--skillevo-show-holdout", "--pdb"):
        refused = project.gate(option)
        assert refused.ret == pytest.ExitCode.USAGE_ERROR, shown(refused)
        assert "does not go with" in shown(refused)
    both = project.gate("--evolve")
    assert both.ret == pytest.ExitCode.USAGE_ERROR
    assert "one run, one question" in shown(both)


def test_a_suite_of_the_reference_that_breaks_is_no_pass(project: GateProject) -> None:
    project.git("checkout", "-q", "main")
    (project.path / "conftest.py").write_text("raise RuntimeError('broken')\n", encoding="utf-8")
    project.commit("break")
    project.git("checkout", "-q", "-B", "change")
    (project.path / "conftest.py").unlink()
    project.skill("demo", " Be kind.")
    result = project.gate("--evolve-repeats=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "could not be run to their end" in shown(result)
    assert "broken" in shown(result)


def test_cases_in_modules_that_were_not_selected_are_noticed(project: GateProject) -> None:
    project.git("checkout", "-q", "main")
    hidden = (
        'import pytest\n\n@pytest.mark.skill("demo")\ndef test_more(skill, rollout):\n    rollout.record(score=1)\n'
    )
    (project.path / "test_more.py").write_text(hidden, encoding="utf-8")
    project.suite(cases=4)
    project.commit("more")
    project.git("checkout", "-q", "-B", "change")
    project.skill("demo", " Be kind.")
    result = project.gate("--evolve-repeats=1", "test_suite.py")
    assert result.ret == 1, shown(result)
    told(result, "demo", "BLOCKED", "test_more.py has cases of demo")


def test_an_aa_stores_its_noise_and_the_gate_quotes_it(project: GateProject) -> None:
    aa = project.pytester.runpytest("--evolve-aa", "--evolve-repeats=1")
    assert aa.ret == 0, shown(aa)
    told(aa, "Same skill against itself on these cases: 29 of 31 changed the result")
    project.skill("demo", " Be kind.")
    result = project.gate("--evolve-repeats=1")
    assert result.ret == 0, shown(result)
    told(result, "Same skill against itself", "29 of 31")
    assert "stale" not in shown(result)
    project.suite(old="0.05, 0.05", new="0.04, 0.04")
    project.commit("less noise")
    project.git("branch", "-f", "main")
    project.skill("demo", " Be kinder.")
    later = project.gate("--evolve-repeats=1")
    told(later, "Same skill against itself", "29 of 31", "that is stale, with other cases: run --evolve-aa again")


def test_resuming_the_last_experiment_means_a_search_and_no_gate(project: GateProject) -> None:
    more = "".join(
        f'@pytest.mark.split("{name}")\ndef test_{name}(skill): pass\n\n' for name in ("feedback", "validation")
    )
    project.suite(3, "@pytest.mark.critical", f"{more}@pytest.mark.critical")
    aa = project.pytester.runpytest("--evolve-aa", "--evolve-repeats=1")
    assert aa.ret == 0, shown(aa)
    last = project.pytester.runpytest("--evolve", "--evolve-resume=last")
    told(last, "ERROR: --evolve-resume=last: the store holds no experiment of --evolve yet")
    with Store.open(project.path / ".skillevo") as store:
        (one,) = store.experiments()
    named = project.pytester.runpytest("--evolve", f"--evolve-resume={one.id}")
    told(named, f"ERROR: --evolve-resume={one.id}: that is a run of --evolve-aa; repeat its command")
    assert (last.ret, named.ret) == (4, 4)


def test_the_evidence_is_signed_when_ci_has_a_key(
    project: GateProject, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("cryptography")
    capsys.readouterr()
    assert main(["evidence", "keys", "--json"]) == 0
    keys = json.loads(capsys.readouterr().out)
    monkeypatch.setenv("SKILLEVO_SIGNING_KEY", keys["private"])
    assert project.gate().ret == 0
    assert evidence(project)["signature"]["public_key"] == keys["public"]
    capsys.readouterr()
    assert main(["evidence", "verify", f"--public-key={keys['public']}"]) == 0
    assert "signed with the key that was asked for" in capsys.readouterr().out
    assert main(["evidence", "keys", "--json"]) == 0
    other = json.loads(capsys.readouterr().out)["public"]
    assert main(["evidence", "verify", f"--public-key={other}"]) == 1
    assert keys["private"] not in (project.path / "skillevo-evidence.json").read_text(encoding="utf-8")


def test_a_missing_or_broken_evidence_file_is_told(project: GateProject, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evidence", "verify"]) == 4
    Path("skillevo-evidence.json").write_text("{", encoding="utf-8")
    assert main(["evidence", "verify"]) == 4
    assert "not a JSON file" in capsys.readouterr().err


def test_a_gate_and_an_aa_find_the_same_side_by_side_as_one_after_the_other(project: GateProject) -> None:
    project.suite(8, "def test_it", "async def test_it")
    project.commit("fewer cases, that can run side by side")
    project.git("branch", "-f", "main")
    project.skill("demo", " Be kind.")
    noise, decided = [], []
    for arguments in ([], ["-n2"], ["--evolve-concurrency=4"]):
        aa = project.pytester.runpytest("--evolve-aa", "--evolve-repeats=2", *arguments)
        assert aa.ret == 0, shown(aa)
        noise.append([line for line in aa.outlines if "gainst itself on" in line or "spread" in line])
        result = project.gate("--evolve-repeats=2", *arguments)
        assert result.ret in (0, 1), shown(result)
        decided.append({key: evidence(project)[key] for key in ("passed", "skills")})
        shutil.rmtree(project.path / ".skillevo")
    assert len(noise[0]) == 3
    assert noise[0] == noise[1] == noise[2]
    assert decided[0] == decided[1] == decided[2]


def test_a_plan_says_what_a_gate_would_run_and_runs_nothing(project: GateProject) -> None:
    folder = project.path / "skills" / "demo"
    project.skill("demo", " Be kind.")
    project.skill("fresh", " This skill is new and has many more words than the other, so it is no copy of it. " * 9)
    project.commit("edit one and add one")
    result = project.gate("--evolve-plan")
    assert result.ret == 0, shown(result)
    told(
        result,
        "skill gate: plan",
        "demo (edited, model the suite's own agent)",
        "31 holdout cases (1 critical) x 3 runs x 2 versions = 186, and at most 10 critical reruns",
        "not worse by 10 points is shown by 29 cases or more without a loss",
        "cost unknown",
        "compared with: main",
        "fresh (added) would be BLOCKED",
        "nothing was run",
    )
    assert not (project.path / ".skillevo").exists()
    assert not (project.path / "skillevo-evidence.json").exists()
    assert folder.is_dir()


def test_one_page_holds_all_skills_of_a_gate_and_names_no_file_that_is_not_there(project: GateProject) -> None:
    project.skill("demo", " Be kind.")
    project.skill("fresh", " This skill is new and has many more words than the other, so it is no copy of it. " * 9)
    project.commit("edit one and add one")
    result = project.gate("--evolve-repeats=1", "--evolve-report=gate.html", "--evolve-report=gate.json")
    assert result.ret == 1, shown(result)
    told(result, "read: gate.html, gate.json evidence: skillevo-evidence.json")
    page = (project.path / "gate.html").read_text(encoding="utf-8")
    assert "skill gate: FAIL (1 of 2 changed skills may not be merged)" in page
    assert page.count('class="gate-skill"') == 2
    assert page.count('class="case-fold"') == 31
    shutil.rmtree(project.path / "skills" / "fresh")
    (project.path / "gate.json").unlink()
    project.skill("demo")
    nothing = project.gate("--evolve-report=gate.html", "--evolve-report=gate.json")
    assert nothing.ret == 0, shown(nothing)
    told(nothing, "read: gate.html evidence: skillevo-evidence.json")
    assert "no skill changed" in (project.path / "gate.html").read_text(encoding="utf-8")


def test_an_aa_has_a_plan_too(project: GateProject) -> None:
    result = project.pytester.runpytest("--evolve-aa", "--evolve-plan", "--evolve-repeats=1")
    assert result.ret == 0, shown(result)
    told(result, "A/A: plan", "demo (", "31 holdout cases (1 critical) x 1 run x 2 versions = 62", "nothing was run")


@pytest.mark.parametrize("workers", [[], ["-n1"]])
def test_a_cap_on_tokens_stops_a_gate_and_a_higher_one_goes_on_from_there(
    project: GateProject, workers: list[str]
) -> None:
    counted = '    rollout.usage("agent", input_tokens=100, output_tokens=10)\n    rollout.check("careful"'
    project.suite(old='    rollout.check("careful"', new=counted)
    project.commit("count tokens")
    project.git("branch", "-f", "main")
    project.skill("demo", " Be kind.")
    capped = ["--evolve-repeats=1", *workers]
    first = project.gate(*capped, "--evolve-max-tokens=1100")
    assert first.ret == 1, shown(first)
    told(first, "1100 tokens are used", "what ran is kept")
    assert not (project.path / "skillevo-evidence.json").exists()
    done = rollouts_in(project)
    assert 10 <= done < 62
    again = project.gate(*capped, "--evolve-max-tokens=1100")
    assert (again.ret, rollouts_in(project)) == (1, done)
    last = project.gate(*capped, "--evolve-max-tokens=1000000")
    assert last.ret == 0, shown(last)
    (report,) = (project.path / ".skillevo" / "reports").glob("ex-gate-*.json")
    assert json.loads(report.read_text(encoding="utf-8"))["rollouts"]["confirmation"] == 62


def test_limits_hold_or_are_refused_and_are_never_ignored(project: GateProject) -> None:
    project.skill("demo", " Be kind.")
    for mode in ("--evolve-aa", "--evolve-gate"):
        few = project.pytester.runpytest(mode, "--evolve-baseline=main", "--evolve-rollouts=60", "--evolve-repeats=1")
        assert few.ret == pytest.ExitCode.USAGE_ERROR, shown(few)
        told(few, "--evolve-rollouts=60: 72 are needed at the most")
        money = project.pytester.runpytest(mode, "--evolve-baseline=main", "--evolve-max-usd=1", "--evolve-repeats=1")
        assert money.ret == 1, shown(money)
        told(money, "the USD of a call are unknown, so the cap cannot be kept")
        timed = project.pytester.runpytest(mode, "--evolve-baseline=main", "--evolve-max-seconds=5")
        assert timed.ret == pytest.ExitCode.USAGE_ERROR
        told(timed, "does not go with --evolve-max-seconds: it stops a search")


def rollouts_in(project: GateProject) -> int:
    with Store.open(project.path / ".skillevo") as store:
        (one,) = store.experiments()
        return sum(entry.kind == "rollout" for entry in store.entries(one.id))


@pytest.mark.parametrize(
    "line", ["--collect-only", "--evolve-plan", "--markers", "--allow-simulated", "--evolve-accept-reason=fine"]
)
def test_no_option_in_the_ini_file_of_a_change_lets_the_change_pass(project: GateProject, line: str) -> None:
    project.skill("demo", " Be slow.")
    project.pytester.makeini(f"[pytest]\naddopts = {line}\n")
    project.commit("slower, and no judgement")
    # In a process of its own: pytest itself may end before any session begins.
    result = project.pytester.runpytest_subprocess("--evolve-gate", "--evolve-baseline=main", "--evolve-repeats=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR, shown(result)


def test_a_gate_that_only_collects_is_refused(project: GateProject) -> None:
    result = project.gate("--co")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    told(result, "--evolve-gate does not go with --collect-only", "--evolve-plan tells what would run")


def test_skills_in_a_submodule_do_not_count_as_new_ones(project: GateProject, tmp_path: Path) -> None:
    shutil.copytree(project.path / "skills", tmp_path / "skills")
    for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "skills"]):
        project.git("-C", str(tmp_path / "skills"), *command)
    project.git("checkout", "-q", "main")
    project.git("rm", "-r", "-q", "skills")
    project.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(tmp_path / "skills"), "skills")
    project.commit("skills of their own")
    project.git("checkout", "-q", "-B", "change")
    project.skill("demo", " Be slow.")
    result = project.gate("--evolve-repeats=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR, shown(result)
    told(result, "skills is a git submodule, so the reference does not hold its skills")


def test_a_skill_that_is_a_link_out_of_the_repository_is_not_unchanged(project: GateProject, tmp_path: Path) -> None:
    project.git("checkout", "-q", "main")
    shutil.move(project.path / "skills" / "demo", tmp_path / "demo")
    (project.path / "skills" / "demo").symlink_to(tmp_path / "demo")
    project.commit("a link")
    project.git("checkout", "-q", "-B", "change")
    (tmp_path / "demo" / "SKILL.md").write_text(
        "---\nname: demo\ndescription: Slow.\n---\nBe slow.\n", encoding="utf-8"
    )
    result = project.gate("--evolve-repeats=1")
    assert result.ret == pytest.ExitCode.USAGE_ERROR, shown(result)
    told(result, "skills/demo is a link out of the repository")


def test_a_hostile_evidence_file_is_told_and_breaks_nothing(
    project: GateProject, capsys: pytest.CaptureFixture[str]
) -> None:
    project.skill("demo", " Be kind.")
    assert project.gate("--evolve-repeats=1").ret == 0
    good = evidence(project)
    (skill,) = good["skills"]

    def verdict_on(text: str) -> tuple[int, str]:
        (project.path / "skillevo-evidence.json").write_text(text, encoding="utf-8")
        capsys.readouterr()
        code = main(["evidence", "verify"])
        out, err = capsys.readouterr()
        return code, " ".join((out + err).split())

    def sealed_with(**changes: object) -> str:
        body = {key: value for key, value in good.items() if key not in ("format", "version", "digest", "signature")}
        return json.dumps(sealed(body | changes))

    for text in ("[" * 200_000, '{"a":' * 100_000, '{"version": ' + "9" * 6_000 + "}"):
        assert verdict_on(text)[0] == 4
    for text, wrong in (
        ("null", "no evidence file"),
        (sealed_with(all_skills=[]), "the file is not whole"),
        (sealed_with(rules=None), "the file is not whole"),
        (sealed_with(skills=[skill | {"pairs": "abc"}]), "the file is not whole"),
        (sealed_with(skills=[skill, skill]), "a skill is in it twice"),
        (sealed_with(skills=[skill | {"files": {}}]), "no file is named that decides its scores"),
        (
            sealed_with(skills=[skill | {"files": {"a\n::error::b\x1b[31m": "c"}}]),
            r"a ::error::b\x1b[31m, which decides",
        ),
    ):
        code, said = verdict_on(text)
        assert (code, wrong in said) == (1, True), said
    lenient = sealed_with(rules=good["rules"] | {"margin": 0.5})
    assert "by its own rules: goal no-worse, margin 0.5" in verdict_on(lenient)[1]


def test_what_the_tests_of_the_reference_print_gives_the_runner_no_command(project: GateProject) -> None:
    forged = [json.dumps("::error::from the tests"), json.dumps("\x1b[2Jgone\n::warning::too\n"), "[1", "7"]
    lines = "\n".join(["::notice::raw", *(f"skillevo|{text}" for text in forged)])
    project.git("checkout", "-q", "main")
    project.suite(4)
    (project.path / "conftest.py").write_text(f"def pytest_unconfigure():\n    print({lines!r})\n", encoding="utf-8")
    project.commit("tests that print")
    project.git("checkout", "-q", "-B", "change")
    (project.path / "conftest.py").unlink()
    project.skill("demo", " Be kind.")
    result = project.gate("--evolve-repeats=1")
    assert result.ret == 1, shown(result)
    told(result, r"\::error::from the tests", r"\::warning::too")
    assert not [line for line in result.outlines if line.lstrip().startswith("::")]
    assert "\x1b[2J" not in shown(result)
