"""One collected item, run as a rollout: which skill it sees, and what its end means (the table of design.md)."""

from __future__ import annotations

import decimal
import os
import random
import re
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from _pytest.outcomes import OutcomeException

from ..core.draws import seed_of
from ..core.errors import ConfigError, EvaluationError, InfrastructureError
from ..core.records import Outcome, RolloutRequest
from ..core.rollout import Rollout
from ..core.skill import Skill
from .current import CURRENT, CurrentRollout, current
from .reuse import PRUNE_EVERY, ReusableItem, prune_finalizers, quiet_hooks, run_protocol, tear_down_to

#: Longest failure text kept as feedback, in characters.
FAILURE_LIMIT = 4000

#: What a wide fixture may raise in its teardown; pytest.skip() and sys.exit() there are no Exception.
TEARDOWN_ERRORS = (Exception, OutcomeException, SystemExit)

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")


class ItemRunner:
    """Runs items of one session as rollouts, one at a time, in this process.

    Register it as a plugin for as long as it is used. Fixtures wider than a function live until `close`.
    """

    def __init__(self, session: pytest.Session, items: Iterable[pytest.Item]) -> None:
        self._session = session
        self._items = {item.nodeid: ReusableItem(item) for item in items}
        self._order = {nodeid: index for index, nodeid in enumerate(self._items)}
        self._last: pytest.Item | None = None
        self._runs = 0
        self._process = os.getpid()
        self._log_level: int | None = None

    def open(self) -> None:
        """Make ready: short tracebacks (only the message is used) and no live log."""
        config = self._session.config
        config.pluginmanager.register(self, "skillevo-item-runner")
        self._style = getattr(config.option, "tbstyle", None)
        config.option.tbstyle = "line"
        handler = getattr(config.pluginmanager.getplugin("logging-plugin"), "log_cli_handler", None)
        if handler is not None:
            self._log_level = handler.level
            handler.setLevel(1000)

    def close(self) -> None:
        """Tear down all fixtures and give pytest back as it was. Errors of the teardown are InfrastructureError."""
        config = self._session.config
        if config.pluginmanager.unregister(name="skillevo-item-runner") is None:
            return
        if self._style is not None:
            config.option.tbstyle = self._style
        if self._log_level is not None:
            config.pluginmanager.getplugin("logging-plugin").log_cli_handler.setLevel(self._log_level)
        self.start_afresh()

    def start_afresh(self) -> None:
        """Tear down every fixture, so that a retry does not meet the cached error of a wide one."""
        try:
            tear_down_to(None, self._session, self._last)
        except TEARDOWN_ERRORS as error:
            raise InfrastructureError(f"teardown of a wide fixture failed: {_one_line(error)}") from error

    def place(self, case_id: str) -> tuple[str, int]:
        """Sort key that keeps cases of one module and class together, so that wide fixtures are set up seldom."""
        item = self._items[case_id].item
        parent = item.parent.nodeid if item.parent is not None else ""
        return parent, self._order[case_id]

    def run(self, request: RolloutRequest, skill: Skill) -> Outcome:
        """Run one rollout. Raises ConfigError for misuse; an infrastructure error is an outcome, not an exception."""
        reusable = self._items[request.case_id]
        item = reusable.item
        running = CurrentRollout(item, skill, Rollout(item.nodeid, request.seed, request.repeat))
        reusable.reset()
        random.seed(seed_of("random", request.case_id, request.seed))
        stash = self._session.config.stash
        stash[CURRENT] = running
        try:
            # A decimal context that a test changes ends with its rollout.
            with quiet_hooks(self._session, running.reports), decimal.localcontext():
                try:
                    tear_down_to(item, self._session, self._last)
                except TEARDOWN_ERRORS as error:
                    return Outcome("errored", reason=f"teardown of a wide fixture failed: {_one_line(error)}")
                self._last = item
                item.ihook.pytest_runtest_protocol(item=item, nextitem=item.parent)
        finally:
            if os.getpid() != self._process:
                # A test forked and its child came back: it must not go on with the parent's experiment.
                os._exit(1)
            stash[CURRENT] = None
            self._housekeeping(item)
        self._heed_stop()
        return outcome_of(running)

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


def outcome_of(running: CurrentRollout) -> Outcome:
    """What the reports of a finished rollout mean. Raises ConfigError when the test was misused."""
    case = running.item.nodeid
    for _, error in running.errors:
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
            return Outcome("errored", reason=f"{when}: {_one_line(error)}")
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
        raise ConfigError(f"{case}: an async test needs a plugin that runs it, such as pytest-asyncio or anyio")


def _is_subtest(report: pytest.TestReport) -> bool:
    return type(report).__name__ == "SubtestReport" or type(report).__name__ == "SubTestReport"


def _named(case: str, error: ConfigError) -> ConfigError:
    text = str(error)
    return error if case in text else type(error)(f"{case}: {text}")


def failure_text(report: pytest.TestReport) -> str:
    """The message of a failed phase, without memory addresses and colours, bounded."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    return clean_text(text)


def clean_text(text: str) -> str:
    """Text that is the same in every run: no addresses, no colours, no lone surrogates, at most FAILURE_LIMIT."""
    text = _ADDRESS.sub("0x…", _ANSI.sub("", text)).encode("utf-8", "replace").decode("utf-8")
    if len(text) <= FAILURE_LIMIT:
        return text
    return text[: FAILURE_LIMIT * 3 // 4] + "\n… cut …\n" + text[-FAILURE_LIMIT // 5 :]


def _skip_reason(report: pytest.TestReport) -> str:
    if isinstance(report.longrepr, tuple):
        return clean_text(str(report.longrepr[2]).removeprefix("Skipped: "))
    return clean_text(str(report.longrepr))


def _one_line(error: BaseException) -> str:
    try:
        text = str(error)
    except Exception:  # an exception of the suite's own making may not even be printable
        text = "(its message cannot be printed)"
    return clean_text(" ".join(f"{type(error).__name__}: {text}".split()))
