"""A process that is killed while it learns loses no session, and the next one enters nothing twice."""

from __future__ import annotations

import subprocess
import sys
import textwrap

from pytest_skillevo.store.learning_records import JobStatus

from .conftest import Script, create, service

WORKER = """
import sys, time
from pathlib import Path
from pytest_skillevo.core.sessions import Session, TaskOutcome
from pytest_skillevo.learning import LearningJob, LearningService, Settings
from pytest_skillevo.store import Store

class Hanging:
    def review(self, given, *, seed):
        print("reviewing", flush=True)
        time.sleep(600)

root = Path(sys.argv[1])
store = Store.open(root / ".skillevo", skills=root / "skills")
learning = LearningService(store, Hanging(), Settings(timeout=600))
for number in range(5):
    session = Session.of(f"s{number}", [{"role": "user", "content": "x"}], app="harbour", user="nina")
    assert learning.enqueue(LearningJob(session, TaskOutcome("fail", 0.0))).status == "queued"
learning.start()
time.sleep(600)
"""


def test_after_a_kill_the_next_service_goes_on(place):
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(WORKER), str(place.root)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "reviewing\n"
    process.kill()
    process.wait()
    process.stdout.close()
    script = Script(create())
    with place.open() as store:
        assert store.learning.depths()[JobStatus.RUNNING] == 1
        service(store, reviewer=script).drain()
        assert script.sessions == [f"s{number}" for number in range(5)]
        assert store.learning.depths()[JobStatus.DONE] == 5
        assert len([one for one in store.revisions() if one.origin == "reviewer"]) == 1
