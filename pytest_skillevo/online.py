"""`--evolve-learn`: a plain run hands what its feedback cases did to the learning service; proposals wait for a person.

Only feedback cases are learned from: a Reviewer that saw a validation or holdout case would spoil it for every decision
to come. Workers of pytest-xdist hand in; the process that ends the run does the work.
"""

from __future__ import annotations

import os
import secrets
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from .chatmodels import chat_models
from .core.errors import EvaluationError, SkillevoError
from .core.gates.redaction import redactor, secret_values
from .core.records import Case
from .core.rollout import Rollout
from .core.sessions import Session, TaskOutcome
from .learning import LearningJob, LearningService, Receipt, Settings
from .options import value_of
from .store.learning_records import JobStatus
from .wiring import open_store

#: The app that sessions of a test run belong to.
APP = "pytest"


class LearnRun:
    """Hooks for a plain run that learns."""

    def __init__(self, config: pytest.Config, rollout_of: Callable[[pytest.Item], Rollout | None]) -> None:
        self._config = config
        self._rollout_of = rollout_of
        self._cases: dict[str, Case] = {}
        self._run = _run_id(config)
        self._left: Counter[str] = Counter()
        self._receipts: Counter[str] = Counter()
        self._service: LearningService | None = None
        self._store: Any = None
        self._before: Counter[str] = Counter()
        self._lines: list[str] = []

    def watch(self, cases: dict[str, Case]) -> None:
        """Learn from these cases, by node id."""
        self._cases = cases

    def is_closed(self, nodeid: str) -> bool:
        """Whether nothing may be learned from this case."""
        case = self._cases.get(nodeid)
        return case is not None and case.split != "feedback"

    def enqueue(self, job: LearningJob) -> Receipt:
        """Hand a session in by hand, as the fixture `learning` does."""
        receipt = self._running().enqueue(job)
        self._receipts[receipt.status] += 1
        return receipt

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """A feedback case that has run becomes a job; what a failure said is read before anybody hides it."""
        report: pytest.TestReport = yield
        case = self._cases.get(item.nodeid)
        if case is not None and report.when == "call" and not report.skipped:
            if case.split == "feedback":
                self._learn(item, case, report)
            else:
                self._left[case.split] += 1
        return report

    def _learn(self, item: pytest.Item, case: Case, report: pytest.TestReport) -> None:
        job = self._job(item, case, report)
        if job is None:
            self._left["without a conversation"] += 1
            return
        offered = item.config.hook.pytest_skillevo_learning_job(item=item, job=job, config=item.config)
        if offered is False:
            self._left["left out by a hook"] += 1
            return
        self.enqueue(job if offered is None else offered)

    def _job(self, item: pytest.Item, case: Case, report: pytest.TestReport) -> LearningJob | None:
        rollout = self._rollout_of(item)
        if rollout is None:
            return None
        try:
            evaluation = rollout.evaluation(report.longreprtext or "failed" if report.failed else None)
        except EvaluationError:
            return None  # the test was told so
        trace = evaluation.trace if isinstance(evaluation.trace, dict) else {}
        talks = [one for one in trace.get("sessions") or () if isinstance(one, dict)]
        messages = [message for one in talks for message in one.get("messages") or () if isinstance(message, dict)]
        if not messages:
            return None
        skill = getattr(item, "funcargs", {}).get("skill")
        known = {skill.name: skill.digest} if skill is not None else {}
        loaded = {str(name): known.get(name, "") for one in talks for name in one.get("skills_loaded") or ()}
        session = Session.of(f"{item.nodeid}@{self._run}", messages, app=APP, skills=loaded)
        return LearningJob(session, TaskOutcome.of(evaluation, evaluator="pytest"), kind=case.family or case.skill)

    def _running(self) -> LearningService:
        """The service, started when the first session comes."""
        if self._service is None:
            from .core.review.reviewer import Reviewer

            session = self._config.stash[SESSION]
            redact = redactor(secret_values(os.environ))
            reviewer = Reviewer(chat_models(session)["reviewer"], redact=redact)
            self._store = open_store(self._config)
            self._before = Counter(self._store.learning.counts())
            # Proposals for skills that people wrote are what a suite wants; the human gate holds every one of them.
            self._service = LearningService(self._store, reviewer, Settings(user_skills=True), redact=redact)
            if not _is_worker(self._config):
                self._service.start()
        return self._service

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Keep what models are made from."""
        self._config.stash[SESSION] = session

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """Do what waits, in the time that is given; what is left waits for the next run."""
        try:
            self._finish()
        except SkillevoError as error:
            self._lines.append(f"learning stopped: {error}")

    def _finish(self) -> None:
        if self._service is None and not _is_controller(self._config):
            return
        service = self._running()
        if _is_worker(self._config):
            service.close(drain=False)
        else:
            done = service.close(timeout=value_of(self._config, "evolve_learn_seconds"))
            self._lines += self._told(done)
        self._store.close()

    def _told(self, done: bool) -> list[str]:
        now = Counter(self._store.learning.counts())
        counts = {name: now[name] - self._before[name] for name in now}
        waiting = self._store.learning.depths()
        stages = ("accepted", "reviewed", "proposed", "gated", "published")
        lines = [", ".join(f"{counts.get(stage, 0)} {stage}" for stage in stages)]
        if counts.get("parked"):
            lines.append(f"{counts['parked']} parked with an error: skillevo learn jobs --status parked")
        if not done or waiting[JobStatus.QUEUED]:
            lines.append(f"{waiting[JobStatus.QUEUED]} sessions wait for the next run or for: skillevo learn run")
        if counts.get("proposed"):
            lines.append("look at what was proposed: skillevo revisions list")
        return lines

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """What was learned, and what was left out."""
        if self._receipts["failed"] or self._receipts["refused"]:
            lost = self._receipts["failed"] + self._receipts["refused"]
            self._lines.append(f"{lost} sessions were not taken in")
        if self._left:
            left = ", ".join(f"{count} {what}" for what, count in sorted(self._left.items()))
            self._lines.append(f"not learned from: {left}")
        if self._lines:
            terminalreporter.section("skillevo learning")
            for line in self._lines:
                terminalreporter.line(line)


SESSION: pytest.StashKey[pytest.Session] = pytest.StashKey()


class Inbox:
    """What the fixture `learning` gives: `enqueue` hands a session in, where the run learns."""

    def __init__(self, run: LearnRun | None, case: str) -> None:
        self._run = run
        self._case = case

    @property
    def on(self) -> bool:
        """Whether this run learns."""
        return self._run is not None

    def enqueue(self, job: LearningJob) -> Receipt:
        """Hand a session in; without --evolve-learn the receipt says "off" and nothing is kept.

        From a validation or holdout case the receipt says "closed".
        """
        if self._run is None:
            return Receipt("off")
        if self._run.is_closed(self._case):
            return Receipt("closed", error="nothing is learned from validation and holdout cases")
        return self._run.enqueue(job)


def _run_id(config: pytest.Config) -> str:
    """One name for all processes of a run."""
    given = getattr(config, "workerinput", {}).get("testrunuid")
    return str(given) if given else secrets.token_hex(6)


def _is_worker(config: pytest.Config) -> bool:
    return hasattr(config, "workerinput")


def _is_controller(config: pytest.Config) -> bool:
    """Whether workers run the tests and this process ends the run."""
    return bool(getattr(config.option, "dist", "no") != "no") and not _is_worker(config)
