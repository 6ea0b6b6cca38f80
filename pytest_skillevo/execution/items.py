"""One collected item, run as a rollout: which skill it sees, and what its end means (the table of design.md)."""

from __future__ import annotations

import decimal
import os
import random
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from _pytest.outcomes import OutcomeException

from ..core.draws import seed_of
from ..core.errors import ConfigError, EvaluationError, ExperimentInterrupted, InfrastructureError
from ..core.records import Outcome, RolloutRequest
from ..core.rollout import Rollout
from ..core.skill import Skill
from .bodies import AsyncCases, Bodies
from .current import CURRENT, CurrentRollout, current
from .places import Places
from .reuse import (
    PRUNE_EVERY,
    ReusableItem,
    fresh_copy,
    full_explanations,
    prune_finalizers,
    quiet_hooks,
    recount_folders,
    report_of_call,
    run_protocol,
    set_up,
    shared_protocol,
    tear_down,
    tear_down_to,
)
from .texts import clean_text, explain, failure_text, one_line

#: What a wide fixture may raise in its teardown; pytest.skip() and sys.exit() there are no Exception.
TEARDOWN_ERRORS = (Exception, OutcomeException, SystemExit)


@dataclass(slots=True)
class Started:
    """A rollout that was set up and whose body runs beside others; `failure` when there was no room for it."""

    request: RolloutRequest
    running: CurrentRollout
    #: Its entry on pytest's stack of what is set up.
    place: Any = None
    failure: Outcome | None = None

    @property
    def item(self) -> pytest.Function:
        """The copy of the item that was set up."""
        return cast(pytest.Function, self.running.item)

    @property
    def ready(self) -> bool:
        """Whether the body may run."""
        return self.failure is None and self.running.reports[0].passed


class ItemRunner:
    """Runs items of one session as rollouts, one at a time, in this process.

    Register it as a plugin for as long as it is used. Fixtures wider than a function live until `close`.
    """

    def __init__(self, session: pytest.Session, items: Iterable[pytest.Item]) -> None:
        self._session = session
        self._items = {item.nodeid: ReusableItem(item) for item in items}
        self.places = Places(reusable.item for reusable in self._items.values())
        self._last: pytest.Item | None = None
        self._runs = 0
        self._process = os.getpid()
        self.bodies = Bodies()
        self._log_level: int | None = None
        #: Reports that a plugin publishes while rollouts share the time; they belong to no rollout.
        self._strays: list[pytest.TestReport] = []

    def open(self) -> None:
        """Make ready: short tracebacks (only the message is used), whole explanations, no live log."""
        config = self._session.config
        config.pluginmanager.register(self, "skillevo-item-runner")
        config.pluginmanager.register(AsyncCases(self.bodies), "skillevo-async-cases")
        self._style = getattr(config.option, "tbstyle", None)
        config.option.tbstyle = "line"
        self._restore_explanations = full_explanations(config)
        handler = getattr(config.pluginmanager.getplugin("logging-plugin"), "log_cli_handler", None)
        if handler is not None:
            self._log_level = handler.level
            handler.setLevel(1000)

    def close(self) -> None:
        """Tear down all fixtures and give pytest back as it was. Errors of the teardown are InfrastructureError."""
        config = self._session.config
        if config.pluginmanager.unregister(name="skillevo-item-runner") is None:
            return
        config.pluginmanager.unregister(name="skillevo-async-cases")
        self._restore_explanations()
        if self._style is not None:
            config.option.tbstyle = self._style
        if self._log_level is not None:
            config.pluginmanager.getplugin("logging-plugin").log_cli_handler.setLevel(self._log_level)
        try:
            self.start_afresh()
        finally:
            self.bodies.close()

    def start_afresh(self) -> None:
        """Tear down every fixture, so that a retry does not meet the cached error of a wide one."""
        try:
            tear_down_to(None, self._session, self._last)
        except TEARDOWN_ERRORS as error:
            raise InfrastructureError(f"teardown of a wide fixture failed: {one_line(error)}") from error

    def run(self, request: RolloutRequest, skill: Skill) -> Outcome:
        """Run one rollout. Raises ConfigError for misuse; an infrastructure error is an outcome, not an exception."""
        reusable = self._items[request.case_id]
        item = reusable.item
        reusable.reset()
        running = CurrentRollout(item, skill, Rollout(item.nodeid, request.seed, request.repeat), request.phase)
        with self._in_turn(running, request), quiet_hooks(self._session, running.reports):
            if (failure := self._make_room(item)) is not None:
                return failure
            item.ihook.pytest_runtest_protocol(item=item, nextitem=item.parent)
        self._heed_stop()
        return outcome_of(running)

    @contextmanager
    def _in_turn(self, running: CurrentRollout, request: RolloutRequest) -> Iterator[None]:
        """Make a rollout the one that fixtures and hooks of this process see."""
        random.seed(seed_of("random", request.case_id, request.seed))
        stash = self._session.config.stash
        stash[CURRENT] = running
        try:
            # A decimal context that a test changes ends with its rollout.
            with decimal.localcontext():
                yield
        finally:
            if os.getpid() != self._process:
                # A test forked and its child came back: it must not go on with the parent's experiment.
                os._exit(1)
            stash[CURRENT] = None
            self._housekeeping(running.item)

    def _make_room(self, item: pytest.Item) -> Outcome | None:
        """Tear down what the item does not need; an outcome when that fails."""
        try:
            tear_down_to(item, self._session, self._last)
        except TEARDOWN_ERRORS as error:
            return Outcome("errored", reason=f"teardown of a wide fixture failed: {one_line(error)}")
        self._last = item
        return None

    # Side by side: used by ConcurrentExecutor between `side_by_side(...)`'s beginning and end.

    def item(self, case_id: str) -> pytest.Item:
        """The item of a case."""
        return self._items[case_id].item

    @contextmanager
    def side_by_side(self, case_id: str) -> Iterator[None]:
        """Stay quiet and explain asserts while rollouts of cases like this one run at the same time."""
        item = self._items[case_id].item
        with quiet_hooks(self._session, self._strays), shared_protocol(item):
            yield
        self._strays.clear()

    def begin(self, request: RolloutRequest, skill: Skill) -> Started:
        """Set up one rollout, up to its body."""
        self._items[request.case_id].reset()
        item = fresh_copy(cast(pytest.Function, self._items[request.case_id].item))
        running = CurrentRollout(item, skill, Rollout(item.nodeid, request.seed, request.repeat), request.phase)
        with self._in_turn(running, request):
            if (failure := self._make_room(item)) is not None:
                return Started(request, running, failure=failure)
            report, place = set_up(item)
        running.reports.append(report)
        return Started(request, running, place)

    def finish(self, started: Started, error: BaseException | None) -> Outcome:
        """Report a body that has ended, with what it raised, and tear the rollout down."""
        if started.failure is not None:
            return started.failure
        running = started.running
        with self._in_turn(running, started.request):
            try:
                if started.ready:
                    running.reports.append(report_of_call(running.item, error))
            finally:
                running.reports.append(tear_down(running.item, started.place))
        self._heed_stop()
        return outcome_of(running)

    def abandon(self, started: Started) -> None:
        """Tear down a rollout whose body nobody waits for any more."""
        with self._in_turn(started.running, started.request):
            tear_down(started.running.item, started.place)

    @contextmanager
    def captured(self) -> Iterator[None]:
        """Keep what bodies print off the terminal."""
        capture = self._session.config.pluginmanager.getplugin("capturemanager")
        if capture is None or self._last is None:
            yield
            return
        with capture.item_capture("call", self._last):
            yield

    def _housekeeping(self, item: pytest.Item) -> None:
        self._runs += 1
        if self._runs % PRUNE_EVERY == 0:
            prune_finalizers(item)

    def _heed_stop(self) -> None:
        session = self._session
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Run a rollout's phases; first result, so that plugins which repeat failed tests stay out of it."""
        running = current(item.config)
        if running is None or running.item is not item:
            return None
        running.reports.extend(run_protocol(item))
        return True

    @pytest.hookimpl(tryfirst=True)
    def pytest_assertrepr_compare(self, op: str, left: object, right: object) -> Any:
        """Explain sets and dicts in an order that is the same in every process."""
        return explain(op, left, right)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Keep the exception itself: its type tells infrastructure errors and misuse from failed cases."""
        running = current(item.config)
        if running is not None and running.item is item and call.excinfo is not None:
            running.errors.append((call.when, call.excinfo.value))
        return (yield)

    def pytest_fixture_post_finalizer(self, fixturedef: pytest.FixtureDef[Any]) -> None:
        """Remove the folder of a finished tmp_path: thousands of rollouts would fill the disk."""
        if fixturedef.argname == "tmp_path" and current(self._session.config) is not None and fixturedef.cached_result:
            path = fixturedef.cached_result[0]
            if isinstance(path, Path):
                shutil.rmtree(path, ignore_errors=True)
                recount_folders(self._session.config, path.name)


def outcome_of(running: CurrentRollout) -> Outcome:
    """What the reports of a finished rollout mean. Raises ConfigError when the test was misused."""
    case = running.item.nodeid
    if running.rollout.interrupted is not None:
        raise running.rollout.interrupted
    for _, error in running.errors:
        if isinstance(error, ExperimentInterrupted):
            raise error
        if isinstance(error, ConfigError):
            raise _named(case, error)
    if running.rollout.misuse is not None:
        raise running.rollout.misuse
    called = any(report.when == "call" and not report.skipped for report in running.reports)
    if called and not running.skill_used:
        raise ConfigError(
            f"{case}: ran without the version on trial: a fixture or parametrization named 'skill' hides the plugin's. "
            "Give yours another name, or let it use the skill fixture"
        )
    if any(hasattr(report, "wasxfail") for report in running.reports):
        raise EvaluationError(f"{case}: a skill case cannot xfail; record a score or let it fail")
    for when, error in running.errors:
        if isinstance(error, InfrastructureError):
            return Outcome("errored", reason=f"{when}: {one_line(error)}")
    by_phase: dict[str | None, pytest.TestReport] = {
        report.when: report for report in running.reports if not _is_subtest(report)
    }
    for when in ("setup", "teardown"):
        report = by_phase.get(when)
        if report is not None and report.failed:
            return Outcome("errored", reason=f"{when}: {failure_text(report)}")
    for when in ("setup", "call"):
        report = by_phase.get(when)
        if report is not None and report.skipped:
            _refuse_unawaited(case, _skip_reason(report))
            return Outcome("skipped", reason=_skip_reason(report))
    return Outcome("scored", running.rollout.evaluation(_failure(running, by_phase)))


def _failure(running: CurrentRollout, by_phase: dict[str | None, pytest.TestReport]) -> str | None:
    call = by_phase.get("call")
    texts = [failure_text(report) for report in running.reports if _is_subtest(report) and report.failed]
    if call is None:
        raise EvaluationError(f"{running.item.nodeid}: the test body did not run (--setup-only or --setup-plan?)")
    if call.failed:
        _refuse_unawaited(running.item.nodeid, failure_text(call))
        texts.append(failure_text(call))
    return "\n".join(texts) or None


def _refuse_unawaited(case: str, text: str) -> None:
    """pytest skips or fails an async test that no plugin runs: that is no score of any skill."""
    if text.lower().startswith(("async def function", "failed: async def function")):
        raise ConfigError(f"{case}: an async test must be a coroutine function: async def, without yield")


def _is_subtest(report: pytest.TestReport) -> bool:
    return type(report).__name__ == "SubtestReport" or type(report).__name__ == "SubTestReport"


def _named(case: str, error: ConfigError) -> ConfigError:
    text = str(error)
    return error if case in text else type(error)(f"{case}: {text}")


def _skip_reason(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return clean_text(str(report.longrepr[2]).removeprefix("Skipped: "))
    return clean_text(str(report.longrepr))
