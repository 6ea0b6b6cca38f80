"""`skillevo learn` and `skillevo cases`: looking at what learning does, and steering it."""

from __future__ import annotations

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest

from pytest_skillevo.cli import main
from pytest_skillevo.core.sessions import Session, TaskOutcome
from pytest_skillevo.learning import LearningJob, LearningService, Settings

from .conftest import NOW

FAILED = TaskOutcome("fail", 0.2, "missing fields: category_dishes (4 of 4).", tokens=900)


def cookbook(id="s1"):
    messages = [{"role": "user", "content": "A cookbook of dishes, please"}, {"role": "assistant", "content": "no"}]
    return Session.of(id, messages, app="kitchen", user="nina")


class Broken:
    def review(self, given, *, seed):
        raise RuntimeError("dial refused")


@pytest.fixture
def run(capsys):
    def command(*arguments):
        code = main([*arguments], clock=lambda: NOW)
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return SimpleNamespace(code=code, out=out, err=err)

    return command


@pytest.fixture
def parked(bench):
    """A store with one parked job."""
    with bench.open() as store:
        service = LearningService(store, Broken(), Settings(attempts=1))
        service.enqueue(LearningJob(cookbook(), FAILED, kind="recipe"))
        service.drain()
    return bench


def test_a_parked_job_is_shown_tried_again_and_done(parked, run):
    assert "1 parked" in run("learn", "status").out
    listed = run("learn", "jobs").out
    assert "parked" in listed
    assert "dial refused" in listed
    assert "dial refused" in run("learn", "show", "1").out
    assert run("learn", "retry").out == "1 parked job queued again\n"
    assert run("learn", "run").code == 0
    shown = run("learn", "show", "1").out
    assert "the task ended as fail" in shown
    told = json.loads(run("learn", "show", "1", "--json").out)
    assert (told["status"], len(told["events"])) == ("done", 2)


def test_pauses_are_shown_and_ended(parked, run):
    run("learn", "pause")
    run("learn", "pause", "publication")
    assert "learning: learning, publication paused" in run("learn", "status").out
    run("learn", "retry")
    assert run("learn", "run").out.startswith("0 attempts")
    run("learn", "resume")
    assert json.loads(run("learn", "status", "--json").out)["paused"] == ["publication"]


def test_sessions_from_a_file_are_handed_in_once(bench, run):
    file = bench.root / "talk.jsonl"
    lines = [{"role": "user", "content": "A cookbook, please"}, {"role": "assistant", "content": "no"}]
    file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    command = ["learn", "add", str(file), "--outcome", "fail", "--score", "0.2", "--notes", "wrong"]
    assert run(*command).out == "talk: queued (job 1)\n"
    assert run(*command).out.startswith("talk: nothing new")
    with bench.open() as store:
        assert store.learning.job(1).outcome.notes == "wrong"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["learn", "add", "gone.json"], "gone.json cannot be read"),
        (["learn", "add", "bad.jsonl"], "bad.jsonl:2: the role of a message"),
        (["learn", "add", "bad.jsonl", "--score", "7"], "score of an outcome"),
        (["learn", "add", "bad.jsonl", "--format", "xml"], "the format 'xml' is none of"),
        (["cases", "from-session", "1", "--suite", ".", "--skill", "x"], "say what a right answer has"),
        (["cases", "from-session", "1", "--suite", "gone", "--skill", "x", "--must-contain", "y"], "no folder"),
        (["learn", "jobs", "--limit", "0"], "at least 1"),
    ],
)
def test_wrong_usage_is_a_sentence_and_exit_code_4(parked, run, arguments, words):
    text = '{"role": "user", "content": "x"}\n{"role": "robot"}\n'
    (parked.root / "bad.jsonl").write_text(text, encoding="utf-8")
    done = run(*arguments)
    assert done.code == 4
    assert words in done.err


def test_an_unknown_job_is_refused(parked, run):
    assert run("learn", "show", "99").err == "skillevo: there is no learning job 99\n"
    assert run("learn", "retry").code == 0
    assert "only a parked one" in run("learn", "retry", "1").err


def test_a_failure_becomes_a_feedback_case_that_runs(parked, run):
    suite = parked.root / "suite"
    suite.mkdir()
    command = ["cases", "from-session", "1", "--suite", str(suite), "--skill", "recipe-cookbook"]
    done = run(*command, "--must-contain", "leek", "--must-not-contain", "no idea")
    assert "was made; run it: pytest" in done.out
    assert "already" in run(*command, "--must-contain", "leek", "--must-not-contain", "no idea").err
    assert run(*command, "--must-contain", "soup").code == 0
    assert "another skill" in run(*command[:-1], "other", "--must-contain", "z").err
    (suite / "conftest.py").write_text(AGENT, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", str(suite), "-p", "no:cacheprovider"]
    result = subprocess.run(command, cwd=parked.root, capture_output=True, text=True, check=False).stdout
    assert "2 feedback" in result
    assert "2 passed" in result


AGENT = """
import pytest
from pytest_skillevo import AgentRun, Usage

class Cook:
    def run(self, prompt, *, tools=(), skills=(), seed=0):
        assert prompt == "A cookbook of dishes, please"
        return AgentRun("leek soup", (), tools, Usage(), 1, "answered")

@pytest.fixture
def agent():
    return Cook()
"""
