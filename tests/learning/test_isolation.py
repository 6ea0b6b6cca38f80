"""A Reviewer in a process of its own: what it does to itself it does to nobody else."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pytest_skillevo.core.errors import ConfigError
from pytest_skillevo.core.records import Evaluation
from pytest_skillevo.core.review.prompt import ReviewInput, ShownSkill
from pytest_skillevo.core.review.reviewer import Reviewer, ReviewFailed
from pytest_skillevo.core.sessions import TaskOutcome
from pytest_skillevo.core.skill import Skill, SkillSpec
from pytest_skillevo.learning.isolation import IsolatedReviewer
from pytest_skillevo.models.simulated import EditMix, SimulatedModel

HOSTILE = """
import os
import subprocess
import time


class Hostile:
    def __init__(self, deed):
        self.deed = deed

    def review(self, given, *, seed):
        if given.session == "calm":
            return None
        if self.deed.startswith("litter "):
            name = self.deed.partition(" ")[2]
            with subprocess.Popen(["sleep", "600"]) as left, open(name, "w") as file:
                print(os.getpid(), left.pid, file=file, flush=True)
                left.wait()
        if self.deed == "hang":
            time.sleep(600)
        if self.deed == "flood":
            hoard = []
            while True:
                hoard.append(bytearray(50_000_000))
        if self.deed == "die":
            os._exit(3)
        if self.deed == "print":
            print("x" * 100_000)
            return None
        if self.deed == "talk":
            from pytest_skillevo.core.review.decision import ReviewDecision
            from pytest_skillevo.core.review.reviewer import Review
            return Review(ReviewDecision("x"), notes=("y" * 5_000_000,))
        raise SystemExit("bye") if self.deed == "exit" else RuntimeError("dial refused")
"""


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    (tmp_path / "hostile_reviewer.py").write_text(HOSTILE, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    import hostile_reviewer

    yield hostile_reviewer.Hostile
    del sys.modules["hostile_reviewer"]


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        ("hang", "no answer within"),
        ("flood", "ran out of memory"),
        ("die", "exit code 3"),
        ("exit", "died without an answer"),
        ("raise", "dial refused"),
        ("talk", "more than 4000000 bytes"),
    ],
)
def test_what_a_reviewer_does_to_its_process_becomes_a_failed_review(hostile, deed, words):
    isolated = IsolatedReviewer(hostile(deed), seconds=0.7 if deed == "hang" else 20, memory=700_000_000)
    task = [{"role": "user", "content": "x"}]
    with pytest.raises(ReviewFailed, match=words):
        isolated.review(ReviewInput(task), seed=1)
    assert isolated.review(ReviewInput(task, session="calm"), seed=1) is None
    isolated.close()


def gone(pids):
    """Whether all these processes end soon."""
    for _ in range(400):
        if not any(_lives(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _lives(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def pids_in(file):
    for _ in range(1_200):
        if file.exists() and len(found := file.read_text(encoding="utf-8").split()) == 2:
            return [int(pid) for pid in found]
        time.sleep(0.05)
    raise AssertionError("the Reviewer did not begin")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks for processes in /proc")
def test_a_reviewer_that_is_ended_leaves_no_process_behind(hostile, tmp_path):
    isolated = IsolatedReviewer(hostile(f"litter {tmp_path / 'pids'}"), seconds=2)
    with pytest.raises(ReviewFailed, match="no answer within"):
        isolated.review(ReviewInput([{"role": "user", "content": "x"}]), seed=1)
    assert gone(pids_in(tmp_path / "pids"))


PARENT = """
import sys
import hostile_reviewer
from pytest_skillevo.core.review.prompt import ReviewInput
from pytest_skillevo.learning.isolation import IsolatedReviewer

isolated = IsolatedReviewer(hostile_reviewer.Hostile("litter " + sys.argv[1]), seconds=600)
isolated.review(ReviewInput([{"role": "user", "content": "x"}]), seed=1)
"""


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="looks for processes in /proc")
@pytest.mark.usefixtures("hostile")
def test_a_killed_service_leaves_no_reviewer_behind(tmp_path):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])}
    with subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path / "pids")], env=environment) as parent:
        pids = pids_in(tmp_path / "pids")
        parent.kill()
    assert gone(pids)


def test_what_it_prints_is_no_answer(hostile):
    isolated = IsolatedReviewer(hostile("print"))
    assert isolated.review(ReviewInput([{"role": "user", "content": "x"}]), seed=1) is None
    isolated.close()


def test_the_answer_is_that_of_the_same_reviewer_in_this_process():
    reviewer = Reviewer(SimulatedModel(mix=EditMix(1, 0, 0, 0, 0, 0)))
    skill = Skill.create(SkillSpec("recipe-cookbook", "Cookbooks.", "For cookbooks.", ("Search.",), ()))
    outcome = TaskOutcome.of(Evaluation(0.7, False, "missing fields: category_dishes (4 of 4)."))
    given = ReviewInput([{"role": "user", "content": "cookbook"}], outcome, (ShownSkill.of(skill, loaded=True),))
    isolated = IsolatedReviewer(reviewer)
    assert isolated.review(given, seed=2) == reviewer.review(given, seed=2)
    isolated.close()


def test_a_reviewer_that_cannot_be_sent_is_refused():
    class Local:
        pass

    with pytest.raises(ConfigError, match="importable classes"):
        IsolatedReviewer(Local())
