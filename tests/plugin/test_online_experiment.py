"""`--evolve-online`: both groups meet the same tasks, only one learns, and nothing of it stays."""

from __future__ import annotations

import json

import pytest

from pytest_skillevo.cli import main

SUITE = """
import pathlib
import pytest
pytestmark = pytest.mark.skill("demo")

def talk(skill, rollout):
    with pathlib.Path("runs.txt").open("a", encoding="utf-8") as file:
        file.write(f"{rollout.seed}\\n")
    messages = [{"role": "user", "content": "# Demo question: a cookbook"}, {"role": "assistant", "content": "x"}]
    loaded = ["demo"] if skill.exists else []
    rollout.add_session({"prompt": "p", "answer": "x", "messages": messages, "skills_loaded": loaded})
    rollout.usage("agent", input_tokens=90, output_tokens=10)
    feedback = "missing fields: category_dishes (4 of 4)."
    rollout.record(score=0.4 if skill.exists else 0.2, passed=skill.exists, feedback=feedback)

@pytest.mark.split("feedback")
@pytest.mark.parametrize("level", [pytest.param(one, marks=pytest.mark.family("demo", level=one)) for one in LEVELS])
def test_open(skill, rollout, level): talk(skill, rollout)

@pytest.mark.split("holdout")
def test_closed(skill, rollout): raise AssertionError("a holdout case was run")
""".replace("LEVELS", '("m1", "e1")')
REPORT = "--evolve-report=online.json"


def run_online(project: pytest.Pytester) -> dict[str, object]:
    result = project.runpytest("--evolve-online", REPORT)
    assert result.ret == 0, result.stdout.str() + result.stderr.str()
    result.stdout.fnmatch_lines(
        [
            "online * round 1/3 * baseline, evolution",
            "model simulated: machinery only, no LLM result",
            "baseline   6 of 6 tasks ran, 0 passed, score 0.200, 100 tokens a task, skill loaded in 0, changed after 0",
            "evolution  6 of 6 tasks ran, 6 passed, score 0.400, * tokens a task, skill loaded in 6, changed after *",
        ]
    )
    return json.loads((project.path / "online.json").read_text(encoding="utf-8"))


def test_both_groups_meet_the_same_tasks_only_evolution_learns_and_a_repetition_runs_nothing(
    project: pytest.Pytester,
) -> None:
    project.makepyfile(SUITE)
    active = project.path / "skills" / "demo" / "SKILL.md"
    before = active.read_bytes()
    told = run_online(project)
    groups = {group: [one for one in told["tasks"] if one["group"] == group] for group in told["groups"]}
    order = {group: [(one["round"], one["root_seed"], one["level"]) for one in each] for group, each in groups.items()}
    assert sorted(order["baseline"]) == sorted(order["evolution"])
    assert [level for _, _, level in order["evolution"]] == ["e1", "m1"] * 3
    bare, learning = ([one["run"] for one in groups[name]] for name in ("baseline", "evolution"))
    assert {(one["tokens"], one["reviewer_tokens"], one["loaded"], one["updated"]) for one in bare} == {
        (100, 0, False, False)
    }
    assert all(one["loaded"] and one["tokens"] == 100 + one["reviewer_tokens"] for one in learning)
    assert any(one["updated"] for one in learning)
    assert active.read_bytes() == before
    seeds = (project.path / "runs.txt").read_text(encoding="utf-8").split()
    assert len(seeds) == 12
    assert sorted(seeds) == sorted(2 * list(set(seeds)))
    assert run_online(project) == told
    assert len((project.path / "runs.txt").read_text(encoding="utf-8").split()) == 12


def test_a_task_without_a_score_is_told_and_is_no_success(project: pytest.Pytester) -> None:
    project.makepyfile(SUITE.replace("talk(skill, rollout)\n\n@", 'pytest.skip("not today")\n\n@'))
    result = project.runpytest("--evolve-online")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["baseline   0 of 6 tasks ran", "*12 of 12 tasks gave no score*"])


def test_commands_say_how_to_see_an_online_experiment_again(project: pytest.Pytester, capsys) -> None:
    project.makepyfile(SUITE)
    run_online(project)
    capsys.readouterr()
    assert main(["report", "last", "--home", str(project.path / ".skillevo")]) != 0
    assert "--evolve-online shows its figures again" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--evolve-online", "--evolve"], "*--evolve-online does not go with --evolve: one run, one question*"),
        (["--evolve-online", "--evolve-max-seconds=5"], "*does not go with --evolve-max-seconds*"),
        (["--evolve-online", "--evolve-rollouts=5"], "*--evolve-rollouts=5: * are needed at the most*"),
        (["--evolve-online", "-k", "closed"], "*no feedback case*"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(project: pytest.Pytester, arguments: list[str], told: str) -> None:
    project.makepyfile(SUITE)
    result = project.runpytest(*arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([told])
    assert not (project.path / "runs.txt").exists()
