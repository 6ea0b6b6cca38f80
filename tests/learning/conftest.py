"""A store with an empty skills folder, sessions, and Reviewers that follow a script."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from pytest_skillevo.core.gates.records import Gates
from pytest_skillevo.core.gates.safety import SafetyGate
from pytest_skillevo.core.gates.spec import SpecGate
from pytest_skillevo.core.records import NO_USAGE
from pytest_skillevo.core.review.decision import ReviewDecision, SkillUpdate
from pytest_skillevo.core.review.reviewer import Review
from pytest_skillevo.core.sessions import Session, TaskOutcome
from pytest_skillevo.core.skill import SkillSpec
from pytest_skillevo.learning import LearningJob, LearningService, Settings
from pytest_skillevo.store import Store

OPEN_GATES = Gates(SpecGate(), SafetyGate())
FAILED = TaskOutcome("fail", 0.2, "the key total is missing", tokens=900)
SKIP = ReviewDecision(skip_reason="routine")


def spec(name: str = "Tide Report", step: str = "Ask for the tide of every port.") -> SkillSpec:
    steps = (step, "Write the report with the key total.", "Check that every port is there.")
    return SkillSpec(name, "Reports of tides for ports.", "When tides of ports are asked for.", steps, ())


def create(name: str = "Tide Report") -> ReviewDecision:
    return ReviewDecision(skills=(spec(name),))


def add(name: str, pitfall: str) -> ReviewDecision:
    return ReviewDecision(updates=(SkillUpdate(name, "learned", add_pitfalls=(pitfall,)),))


def session(id: str = "s1", turns: int = 1, user: str = "nina", app: str = "harbour", **more) -> Session:
    messages = []
    for turn in range(turns):
        messages += [{"role": "user", "content": f"Task {id}.{turn}"}, {"role": "assistant", "content": "Done."}]
    return Session.of(id, messages, app=app, user=user, **more)


class Script:
    """Answers in turn with decisions, None, or exceptions to raise; the last one for ever."""

    def __init__(self, *answers) -> None:
        self.answers = list(answers)
        self.seen: list = []
        self._lock = threading.Lock()

    def review(self, given, *, seed):
        with self._lock:
            self.seen.append(given)
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        if callable(answer):
            answer = answer(given)
        shown = {skill.name: skill.digest for skill in given.skills}
        return None if answer is None else Review(answer, NO_USAGE, shown)

    @property
    def sessions(self) -> list[str]:
        return [given.session for given in self.seen]


class Place:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.skills = root / "skills"
        self.home = root / ".skillevo"

    def open(self, **more) -> Store:
        return Store.open(self.home, **({"skills": self.skills, "gates": OPEN_GATES} | more))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def store(place: Place) -> Iterator[Store]:
    with place.open() as opened:
        yield opened


def service(store: Store, *answers, reviewer=None, **settings) -> LearningService:
    """A service that works in the caller's thread only, until it is started; without waiting between attempts."""
    policy = settings.pop("by", None)
    values = {"backoff": 0.0, "poll": 0.02, "timeout": 10.0} | settings
    return LearningService(store, reviewer or Script(*answers), Settings(**values), policy=policy)


def learn(store: Store, *answers, job: LearningJob | None = None, **settings):
    """Hand one failed session in, do all that is due, and give the job."""
    working = service(store, *answers, **settings)
    receipt = working.enqueue(job or LearningJob(session(), FAILED))
    working.drain()
    return store.learning.job(receipt.job)
