"""Processes that are killed while they learn, or learn side by side, lose no session and enter nothing twice."""

from __future__ import annotations

import os
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


#: Sessions of all processes together; SKILLEVO_SCALE=full takes ten thousand.
SESSIONS = 10_000 if os.environ.get("SKILLEVO_SCALE") == "full" else 200

MEMBER = """
import sys
from pathlib import Path
from pytest_skillevo.core.sessions import Session, TaskOutcome
from pytest_skillevo.learning import LearningJob, LearningService, Settings
from pytest_skillevo.store import Store

root, log, first, last = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])

class Noting:
    def review(self, given, *, seed):
        with log.open("a") as file:
            file.write(given.session + "\\n")

with Store.open(root / ".skillevo", skills=root / "skills") as store:
    with LearningService(store, Noting(), Settings(workers=2, queue_size=20)) as learning:
        for number in range(first, last):
            session = Session.of(f"s{number}", [{"role": "user", "content": "x"}], app="harbour", user=f"u{number % 7}")
            learning.enqueue(LearningJob(session, TaskOutcome("fail", 0.0)))
            if number == first:
                print("begun", flush=True)
"""


def test_of_three_services_on_one_store_one_is_killed_and_every_session_is_done_once(place):
    def member(name: str, first: int, last: int) -> subprocess.Popen:
        command = [sys.executable, "-c", textwrap.dedent(MEMBER), str(place.root), str(place.root / name)]
        return subprocess.Popen([*command, str(first), str(last)], stdout=subprocess.PIPE, text=True)

    # All hand in some of the same sessions, as a task runner does that was started again.
    third = SESSIONS // 3
    members = [member("a", 0, 2 * third), member("b", third, SESSIONS), member("killed", 0, SESSIONS)]
    assert all(one.stdout.readline() == "begun\n" for one in members)
    members[2].kill()
    for one in members:
        one.communicate(timeout=3_000)
    assert [one.returncode for one in members[:2]] == [0, 0]
    script = Script(None)
    with place.open() as store:
        service(store, reviewer=script).drain()
        assert store.learning.depths() == {status: SESSIONS * (status is JobStatus.DONE) for status in JobStatus}
    survivors = [name for log in ("a", "b") for name in (place.root / log).read_text(encoding="utf-8").split()]
    seen = survivors + script.sessions
    assert len(seen) == len(set(seen))
    # What the killed one had in hand may have been reviewed there as well; nothing else is missing here.
    killed = place.root / "killed"
    done_there = set(killed.read_text(encoding="utf-8").split()) if killed.exists() else set()
    assert set(seen) | done_there == {f"s{number}" for number in range(SESSIONS)}
