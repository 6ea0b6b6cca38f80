"""Runs on a model behind HTTP: recorded, replayed without network, refused with a sentence."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Callable

import pytest

SUITE = """
import pytest

pytestmark = pytest.mark.skill("demo")
SPLITS = ["feedback"] * 3 + ["validation"] * 3 + ["holdout"] * 6

@pytest.mark.parametrize(
    "n", [pytest.param(n, marks=pytest.mark.split(split), id=f"c{n}") for n, split in enumerate(SPLITS)]
)
def test_it(skill, agent, rollout, n):
    answer = agent.run(f"Question {n}: the secret word is {'swordfish' * (n > 5)}", skills=[skill], seed=rollout.seed).answer
    # The server numbers its answers, so no two live runs score the same.
    rollout.record(score=(0.8 if "tip" in answer else 0.3) + sum(map(ord, answer)) % 10 / 100, feedback="no tip")
"""

SEARCH = ("--evolve", "--evolve-iterations=1", "--evolve-stages=search")
EVOLVE = ("--evolve", "--evolve-iterations=2", "--evolve-stages=search,confirm", "--evolve-max-usd=5")


@pytest.fixture
def run(project, chat_server, monkeypatch) -> Callable[..., pytest.RunResult]:
    """Run pytest on the suite with a new model of the server, whose price is known."""
    project.makepyfile(test_suite=SUITE)
    model = chat_server.model()
    price = f'["{model}"]\ninput = 0.15\noutput = 0.60\n'
    (project.path / "prices.toml").write_text(price, encoding="utf-8")
    project.makeini("[pytest]\naddopts = --strict-markers\nskillevo_prices = prices.toml\nfilterwarnings = error\n")
    monkeypatch.setenv("PYTHONWARNINGS", "")

    def start(*arguments: str, live: bool = True, model: str = model) -> pytest.RunResult:
        endpoint = [f"--evolve-api-base={chat_server.url}"] if live else []
        return project.runpytest(f"--evolve-model={model}", *endpoint, *arguments)

    start.model = model
    return start


@pytest.fixture
def no_network(monkeypatch) -> Callable[[], None]:
    """Make every connection an error from now on."""

    def refuse(*arguments, **named):
        raise AssertionError("a replay reached for the network")

    def cut() -> None:
        for name in ("connect", "connect_ex"):
            monkeypatch.setattr(socket.socket, name, refuse)
        monkeypatch.setattr(socket, "getaddrinfo", refuse)

    return cut


def without_time(report: dict) -> dict:
    """A report without what belongs to one run only."""
    for part, keys in (("experiment", ("id", "started", "finished", "command")), ("model", ("kind",))):
        for key in keys:
            del report[part][key]
    for key in ("revision", "id"):
        report.pop(key, None)
    return report


def test_a_recorded_experiment_is_replayed_without_network_to_the_same_decision(run, project, chat_server, no_network):
    live = run(*EVOLVE, "--evolve-cassettes=record", "--evolve-report=live.json")
    assert live.ret == 0, live.stdout.str()
    asked = len(chat_server.requests(run.model))
    live.stdout.fnmatch_lines([f"*model {run.model} (live)", f"*{asked} recorded in cassettes/"])
    no_network()
    # A store of its own: in the same one the verdict of the same experiment would only be shown again.
    (project.path / ".skillevo").rename(project.path / "elsewhere")
    replay = run(*EVOLVE, "--evolve-cassettes=replay", "--evolve-report=replay.json", live=False)
    assert replay.ret == 0, replay.stdout.str()
    replay.stdout.fnmatch_lines(
        [f"*model {run.model} (cassette)", "*recorded answers were given again*", f"*{asked} answers given again*"]
    )
    first, second = (json.loads((project.path / name).read_text()) for name in ("live.json", "replay.json"))
    assert (first["model"]["kind"], second["model"]["kind"]) == ("live", "cassette")
    assert first["decision"]["verdict"] == "ACCEPT"
    assert without_time(first) == without_time(second)
    (about,) = first["model"]["live"]
    assert about["price"]["usd_per_million_tokens"][0] | {} == {
        "above": 0,
        "input": "0.15",
        "output": "0.6",
        "cached": None,
        "reasoning": None,
    }
    assert float(first["usage"]["agent"]["usd"]) > 0


def test_in_one_store_a_replay_shows_the_verdict_of_the_recording(run):
    assert run(*SEARCH, "--evolve-cassettes=record").ret == 0
    shown = run(*SEARCH, "--evolve-cassettes=replay", live=False)
    shown.stdout.fnmatch_lines(["*its verdict is shown again*"])
    run(*SEARCH, "--evolve-cassettes=record").stdout.fnmatch_lines(["*nothing was recorded: the verdict*is known*"])


def test_a_plain_run_replays_without_a_key(run, no_network, monkeypatch):
    recorded = run("--evolve-cassettes=record")
    recorded.assert_outcomes(passed=12)
    recorded.stdout.fnmatch_lines(["skillevo: cassettes (record): 0 answers given again, 24 recorded in cassettes/"])
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    no_network()
    replayed = run("--evolve-cassettes=replay", live=False)
    replayed.assert_outcomes(passed=12)
    replayed.stdout.fnmatch_lines(
        [
            f"skillevo: 1 skill, 12 cases (*), model {run.model} (cassettes: replay)*",
            "skillevo: cassettes (replay): 24 answers given again, 0 recorded in cassettes/",
        ]
    )
    replayed.stdout.no_fnmatch_line("*not used*")


def test_a_changed_skill_makes_the_cassette_stale_and_the_holdout_stays_closed(run, write_skill):
    run("--evolve-cassettes=record").assert_outcomes(passed=12)
    folder = write_skill()
    text = (folder / "SKILL.md").read_text(encoding="utf-8")
    (folder / "SKILL.md").write_text(text.replace("Answer it.", "Answer it well."), encoding="utf-8")
    stale = run("--evolve-cassettes=replay", live=False)
    stale.assert_outcomes(failed=12)
    stale.stdout.fnmatch_lines(
        [
            "*no recorded answer to a request of 2 messages in test_suite.py::test_it?c0?*the cassette is stale*",
            "the request is the same; only the version of the skill differs",
            "skillevo: cassettes: 2 recorded answers were not used, 2 of them of another version of the skill*",
        ]
    )
    stale.stdout.no_fnmatch_line("*swordfish*")
    stale.stdout.no_fnmatch_line("*Traceback*")


def test_a_gate_is_recorded_for_both_versions_and_replayed_to_the_same_decision(run, project, write_skill):
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@b")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "begin"]):
        subprocess.run([*git, *command], cwd=project.path, check=True)
    folder = write_skill()
    text = (folder / "SKILL.md").read_text(encoding="utf-8")
    (folder / "SKILL.md").write_text(text.replace("Answer it.", "Answer it well."), encoding="utf-8")
    gate = ("--evolve-gate", "--evolve-baseline=HEAD", "--evolve-repeats=1")
    refused = run(*gate, "--evolve-cassettes=replay", live=False)
    assert refused.ret == 4
    refused.stderr.fnmatch_lines(["*no answers of it are recorded*Record them: --evolve-cassettes=record*"])
    figures = []
    for mode in ("auto", "replay"):
        result = run(*gate, f"--evolve-cassettes={mode}", live=mode == "auto")
        assert result.ret == 1, result.stdout.str() + result.stderr.str()
        (skill,) = json.loads((project.path / "skillevo-evidence.json").read_text(encoding="utf-8"))["skills"]
        figures.append((skill["verdict"], skill["pairs"], skill["reruns"]))
        shutil.rmtree(project.path / ".skillevo")
    assert figures[0] == figures[1]
    assert len(list((project.path / "cassettes").glob("test_suite-*.yaml"))) == 6


def test_a_missing_recording_stops_an_experiment_with_the_difference(run):
    assert run(*SEARCH, "--evolve-cassettes=record").ret == 0
    missed = run(*SEARCH, "--evolve-cassettes=replay", "--evolve-seed=2", live=False)
    assert missed.ret == pytest.ExitCode.USAGE_ERROR
    missed.stderr.fnmatch_lines(["*no recorded answer to a request of 2 messages*", "the messages are the same; seed*"])


def test_an_experiment_without_any_recording_is_refused(run):
    refused = run(*EVOLVE, "--evolve-cassettes=replay", live=False)
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*no answers of it are recorded*Record them: --evolve-cassettes=record"])


def test_a_money_cap_on_a_model_without_a_price_is_refused_before_the_first_call(run, chat_server):
    unpriced = chat_server.model()
    refused = run(*EVOLVE, model=unpriced)
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines([f"*--evolve-max-usd=5 cannot hold: nobody knows the price of {unpriced}*"])
    assert chat_server.requests(unpriced) == []


def test_a_name_that_no_provider_answers_to_is_refused(run):
    refused = run("--evolve", model="opnai/gpt-4o", live=False)
    assert refused.ret == pytest.ExitCode.USAGE_ERROR
    refused.stderr.fnmatch_lines(["*there is no model 'opnai/gpt-4o'*Did you mean 'openai'*"])


@pytest.mark.parametrize("evolve", [False, True])
def test_a_missing_key_is_told_in_one_sentence(run, monkeypatch, evolve):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    result = run(*(EVOLVE if evolve else ("-k", "c0")), live=False)
    lines = result.stderr if evolve else result.stdout
    lines.fnmatch_lines(["*needs OPENAI_API_KEY in the environment*--evolve-cassettes=replay"])
    result.stdout.no_fnmatch_line("*Traceback*")
    assert "another exception" not in result.stdout.str()


def test_an_outage_leaves_an_experiment_that_can_go_on(run, chat_server):
    down = chat_server.model(*[{"status": 402, "message": "pay your bill"}] * 50)
    stopped = run("--evolve", model=down)
    assert stopped.ret == pytest.ExitCode.TESTS_FAILED
    stopped.stdout.fnmatch_lines(["*pay your bill*go on with --evolve-resume=ex-*"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--evolve-api-base=localhost:80",), "--evolve-api-base=localhost:80: expected an address"),
        (
            ("-o", "skillevo_attempt_seconds=soon"),
            "ini key skillevo_attempt_seconds=soon: expected a number of seconds",
        ),
        (("-o", "skillevo_prices=none.toml"), "the price table *none.toml cannot be read"),
        (("--evolve-cassettes=rewind",), "--evolve-cassettes=rewind: expected one of off, record, replay, auto"),
        (("--evolve-cassettes=record", "-o", "skillevo_cassettes=prices.toml"), "*prices.toml is not a folder"),
    ],
)
def test_a_wrong_setting_is_named(run, arguments, words):
    result = run("--evolve", *arguments)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{words}*"])
