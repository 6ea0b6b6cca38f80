"""The controller's side of rollouts on xdist workers: the ask/tell engine runs here, in the main thread.

xdist's own run loop is not used. Whoever waits for rollouts turns the crank of its event queue (`DSession.loop_once`),
so that results, deaths of workers and interrupts all arrive in the thread that waits, and no lock is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import pytest

from ..core.errors import ConfigError, ExperimentInterrupted
from ..core.skill import Skill
from . import messages
from .cleaning import CleanOutcome
from .places import Places
from .scheduling import RolloutScheduling, Task
from .serial import OnRetry, Work

#: Under this name a worker finds its channel in `config.workerinput`.
CHANNEL = "skillevo_channel"


class WorkerLinks:
    """The plugin of the controller that opens a channel to every worker and puts our scheduling in xdist's place."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._channels: dict[Any, Any] = {}
        self.scheduling: RolloutScheduling | None = None
        self.executor: XdistExecutor | None = None

    def channel_of(self, node: Any) -> Any:
        """Our channel to a worker."""
        return self._channels[node]

    @property
    def dsession(self) -> Any:
        """xdist's distributed session; None when xdist does not distribute."""
        return self._config.pluginmanager.getplugin("dsession")

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Open the channel; execnet carries its other end to the worker inside workerinput."""
        channel = node.gateway.newchannel()
        self._channels[node] = node.workerinput[CHANNEL] = channel

        def receive(message: bytes) -> None:
            # In the receiver thread. This event of xdist's takes the message to the scheduling in the main thread.
            self.dsession.queue.put(("unscheduled", {"node": node, "indices": message}))

        channel.setcallback(receive)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self) -> RolloutScheduling | None:
        """Our scheduling."""
        return self.scheduling

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self) -> None:
        """Shut the workers down and hear them out; when something has gone wrong, only let go of them."""
        if self.executor is not None:
            self.executor.close()
        for channel in self._channels.values():
            with suppress(OSError):
                channel.close()


class XdistExecutor:
    """Runs work on workers. `check(worker, hello)` raises ConfigError for one that cannot serve the experiment."""

    def __init__(
        self,
        session: pytest.Session,
        links: WorkerLinks,
        check: Callable[[str, messages.Message], None],
        capacity: int,
    ) -> None:
        self._session = session
        self._places = Places(())
        self._notice: Callable[[str], None] = lambda text: None
        self._well = False
        self._dsession = links.dsession
        self._scheduling = links.scheduling = RolloutScheduling(links.channel_of, check, capacity)
        self._dsession.shouldstop = False
        self._dsession.sched = session.config.hook.pytest_xdist_make_scheduler(
            config=session.config, log=self._dsession.log
        )

    def begin(
        self, items: Iterable[pytest.Item], experiment: str, on_retry: OnRetry, notice: Callable[[str], None]
    ) -> None:
        """Serve an experiment on these items. `notice` hears what goes wrong after its rollouts."""
        self._places = Places(items)
        self._notice = notice
        self._well = False
        self._scheduling.begin(experiment, on_retry)

    def ended_well(self) -> None:
        """The experiment is over, and nothing is in flight."""
        self._well = True

    @property
    def retried(self) -> int:
        """Further attempts after infrastructure errors and deaths of workers."""
        return self._scheduling.retried

    @property
    def at_once(self) -> int:
        """How many rollouts the workers that are there may run at the same time."""
        return max(1, self._scheduling.room)

    def run(self, work: Sequence[Work]) -> Iterator[tuple[int, CleanOutcome]]:
        """Yield (index in work, outcome) as they come in, each exactly once."""
        expected = set(range(len(work)))
        self._scheduling.add(
            [self._task(index, *work[index]) for index in self._places.order([one for one, _ in work])]
        )
        try:
            while expected:
                while (answer := self._scheduling.take()) is not None:
                    expected.remove(answer[0])
                    yield answer
                if expected:
                    self._wait(len(expected))
        finally:
            self._scheduling.forget()

    def close(self) -> None:
        """Shut the workers down and hear them out, so that their wide fixtures are torn down in order."""
        self._scheduling.finished = True
        if not self._well:
            return
        self._dsession.triggershutdown()
        while not self._dsession.session_finished:
            self._dsession.loop_once()
        for text in dict.fromkeys(self._scheduling.notices):
            self._notice(f"after the last rollout, {text}")

    def _task(self, index: int, request: Any, skill: Skill) -> Task:
        return Task(index, request, skill, self._places.of(request.case_id))

    def _wait(self, missing: int) -> None:
        """Handle the next event of a worker. Raises what a worker wants to end the experiment with."""
        session, dsession = self._session, self._dsession
        if dsession.session_finished or dsession.shuttingdown:
            raise ExperimentInterrupted(
                f"no worker is left for {missing} rollouts (too many died: --max-worker-restart); nothing is decided. "
                "Mend the cause and go on with --evolve-resume=last"
            )
        dsession.loop_once()
        if self._scheduling.stop is not None:
            how, text, returncode = self._scheduling.stop
            if how == "refused":
                raise ConfigError(text)
            if how == "exhausted":
                raise ExperimentInterrupted(text)
            if how == "exit":
                raise pytest.exit.Exception(text, returncode)
            if how == "interrupt":
                raise KeyboardInterrupt
            raise session.Interrupted(text)
        if dsession.shouldstop:
            raise session.Interrupted(str(dsession.shouldstop))
