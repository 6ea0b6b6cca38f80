"""Many processes at once on one store, and processes that die at any moment: nothing is lost, nobody waits for ever."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

import pytest_skillevo
from pytest_skillevo.core.revisions import Deed

from .invariants import assert_whole

EVERY_DATABASE = True

SCRIPT = Path(__file__).with_name("churn.py")
FULL = os.environ.get("SKILLEVO_SCALE") == "full"
PROCESSES = 8
ACTIONS = 200 if FULL else 15
KILLS = 200 if FULL else 12


@pytest.fixture
def project(new_project, url):
    """In memory, where there is such a place: what is tested are deaths of processes, not of machines."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield new_project(Path(folder), url)


def environment() -> dict[str, str]:
    # The very package under test, installed or not.
    return os.environ | {"PYTHONPATH": str(Path(pytest_skillevo.__file__).parents[1])}


class Member:
    def __init__(self, project, name: str) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, SCRIPT, "crowd", project.root, project.url or "-", name, str(ACTIONS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env=environment(),
        )

    def wait_until_ready(self) -> None:
        assert self.process.stdout.readline().strip() == "ready"

    def start(self) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def told(self) -> list[tuple[str, str]]:
        out, _ = self.process.communicate(timeout=600)
        assert self.process.returncode == 0
        return [tuple(json.loads(line)) for line in out.splitlines()]


def test_what_eight_processes_were_told_is_what_the_audit_trail_says(project):
    project.open().close()
    crowd = [Member(project, f"member{number}") for number in range(PROCESSES)]
    for member in crowd:
        member.wait_until_ready()
    for member in crowd:
        member.start()
    told = {member.name: member.told() for member in crowd}
    assert all(len(answers) == ACTIONS for answers in told.values()), "somebody was left hanging"
    refusals = [text for answers in told.values() for deed, text in answers if deed == "refused"]
    assert not [text for text in refusals if "busy" in text or "cannot be used" in text]
    with project.open() as store:
        assert_whole(store)
        found = Counter((event.actor, event.deed.value, event.revision) for event in store.audit())
        for name, answers in told.items():
            for (deed, revision), times in Counter(answers).items():
                if deed != "refused":
                    assert found[name, deed, revision] == times
        counts = store.counts()
        done = Counter(deed for answers in told.values() for deed, _ in answers)
        for deed in (Deed.SUBMIT, Deed.APPROVE, Deed.REJECT, Deed.ROLLBACK, Deed.RESTORE):
            assert counts.get(deed, 0) == done[deed.value]
    assert done["approve"] > PROCESSES // 2


def test_processes_killed_at_random_times_leave_a_store_that_is_whole(project):
    project.open().close()
    command = [sys.executable, SCRIPT, "killed", project.root, project.url or "-", str(KILLS), "7"]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", timeout=1_200, env=environment())
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["told"] >= counts["done"] >= KILLS
