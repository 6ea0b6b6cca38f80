"""Where rollouts run: in this process, or on xdist workers. Both ends of `--evolve -n` meet here."""

from __future__ import annotations

import os
import platform
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from . import __version__, limiting, options
from .collection import build_cases, skill_items
from .core.errors import ConfigError, InfrastructureError

if TYPE_CHECKING:
    from .execution.cleaning import Redact
    from .execution.concurrent import ConcurrentExecutor
    from .execution.distributed import WorkerLinks, XdistExecutor
    from .execution.items import ItemRunner
    from .execution.serial import OnRetry, SerialExecutor
    from .stages.recorder import Executor

_LINKS: pytest.StashKey[WorkerLinks] = pytest.StashKey()


#: Options of xdist that say where rollouts run, and whether a value follows. No result depends on them.
_WHERE = {"-n": True, "--numprocesses": True, "--maxprocesses": True, "--max-worker-restart": True, "--tx": True}
_WHERE |= {"--dist": True, "-d": False, "--evolve-concurrency": True}


def without_workers(arguments: Iterable[str]) -> Iterator[str]:
    """The command line without how many workers ran it: reports of -n 0 and -n 8 are the same."""
    given = iter(arguments)
    for argument in given:
        name, sign, _ = argument.partition("=")
        if argument in _WHERE:
            if _WHERE[argument]:
                next(given, None)
        elif not (sign and _WHERE.get(name)) and not re.fullmatch(r"-n(\d+|auto|logical)", argument):
            yield argument


def is_worker(config: pytest.Config) -> bool:
    """Whether this process is an xdist worker."""
    return hasattr(config, "workerinput")


def prepare_workers(config: pytest.Config) -> None:
    """Called before xdist makes its session: check the specs of the workers and stand ready to link them."""
    specs = getattr(config.option, "tx", None)
    if not specs or config.option.collectonly:
        return
    for spec in specs:
        if "popen" in spec and "python=" in spec:
            raise pytest.UsageError(
                f"--tx {spec}: a popen worker is given this interpreter's import path, which another interpreter "
                "cannot use; start that one as a host of its own (socket=HOST:PORT, see docs/workers.md)"
            )
        if "popen" not in spec:
            _refuse_shared_files(config, spec)
    if config.option.dist == "no":
        config.option.dist = "load"  # a bare --tx; the name does not matter, the scheduling is ours
    from .execution.distributed import WorkerLinks

    links = WorkerLinks(config)
    config.stash[_LINKS] = links
    config.pluginmanager.register(links, "skillevo-workers")
    _pin_hash_seed(config)


def _refuse_shared_files(config: pytest.Config, spec: str) -> None:
    for key in limiting.SHARED:
        if options.value_of(config, key):
            raise pytest.UsageError(
                f"--{key.replace('_', '-')} does not go with --tx {spec}: it holds among the processes of one machine"
            )


def _pin_hash_seed(config: pytest.Config) -> None:
    """Let sets have the same order in all workers: texts of failed asserts show it (spec/execution.md 4)."""
    if "PYTHONHASHSEED" not in os.environ:
        os.environ["PYTHONHASHSEED"] = "0"

        def unpin() -> None:
            os.environ.pop("PYTHONHASHSEED", None)

        config.add_cleanup(unpin)


def distributed(config: pytest.Config) -> bool:
    """Whether rollouts run on workers."""
    return _LINKS in config.stash and config.pluginmanager.hasplugin("dsession")


def versions() -> dict[str, str]:
    """What decides results beside the suite; the same on every host of an experiment."""
    return {"pytest_skillevo": __version__, "pytest": pytest.__version__, "python": platform.python_version()}


def collected(session: pytest.Session) -> dict[str, Any]:
    """What a process has collected, to be compared between controller and workers."""
    from .execution.evaluator import evaluator_files, evaluator_version

    items = skill_items(session.items)
    patterns = list(session.config.getini("skillevo_evaluator_files"))
    files = evaluator_files([(one.case, one.item) for one in build_cases(items)], session.config.rootpath, patterns)
    return {
        "cases": [item.nodeid for item in items],
        "versions": versions(),
        "evaluator": evaluator_version(files, __version__),
    }


@contextmanager
def executor_for(
    session: pytest.Session,
    items: Sequence[pytest.Item],
    experiment: str,
    redact: Redact,
    on_retry: OnRetry,
    notice: Callable[[str], None],
) -> Iterator[Executor]:
    """The executor of an experiment's rollouts; `notice` hears what goes wrong beside them."""
    config = session.config
    _tell_who_runs_alone(items, config, notice)
    if distributed(config):
        workers = _workers(session)
        workers.begin(items, experiment, on_retry, notice)
        yield workers
        workers.ended_well()
        return
    from .execution.items import ItemRunner

    runner = ItemRunner(session, items)
    runner.open()
    try:
        yield local_executor(runner, config, redact)(on_retry)
    finally:
        try:
            runner.close()
        except InfrastructureError as error:
            # It is told and takes nothing back.
            notice(f"after the last rollout, {error}")


def _workers(session: pytest.Session) -> XdistExecutor:
    """The session's workers; they serve one experiment after the other."""
    from .execution.distributed import XdistExecutor

    links = session.config.stash[_LINKS]
    if links.executor is None:
        expected = collected(session)
        links.executor = XdistExecutor(
            session, links, lambda worker, hello: _check(worker, expected, hello), concurrency(session.config)
        )
    return links.executor


def local_executor(
    runner: ItemRunner, config: pytest.Config, redact: Redact
) -> Callable[[OnRetry], SerialExecutor | ConcurrentExecutor]:
    """A maker of the executor for rollouts in this process."""
    from .execution.concurrent import ConcurrentExecutor
    from .execution.serial import SerialExecutor

    def make(on_retry: OnRetry) -> SerialExecutor | ConcurrentExecutor:
        serial = SerialExecutor(runner, on_retry, redact)
        limit = concurrency(config)
        return serial if limit == 1 else ConcurrentExecutor(runner, serial, redact, limit)

    return make


def _tell_who_runs_alone(items: Sequence[pytest.Item], config: pytest.Config, notice: Callable[[str], None]) -> None:
    """Nobody shall wonder why --evolve-concurrency does not help."""
    if concurrency(config) == 1:
        return
    from .execution.concurrent import alone_because

    reasons = Counter(reason for item in items if (reason := alone_because(item)) is not None)
    if reasons:
        (reason, _), *_ = reasons.most_common(1)
        notice(f"{reasons.total()} of {len(items)} cases ran one at a time ({reason}; see docs/workers.md)")


def concurrency(config: pytest.Config) -> int:
    """How many rollouts may run at once in one process."""
    return int(options.value_of(config, "evolve_concurrency"))


def _check(worker: str, expected: Mapping[str, Any], hello: Mapping[str, Any]) -> None:
    """Raise ConfigError for a worker that would evaluate something else."""
    from .execution.scheduling import compare_cases

    for name, mine in expected["versions"].items():
        theirs = hello["versions"][name]
        if theirs != mine:
            raise ConfigError(
                f"worker {worker} runs {name} {theirs} and the controller {mine}; results would not be of one kind. "
                "Install the same version on every host"
            )
    compare_cases(worker, expected["cases"], hello["cases"])
    if expected["evaluator"] != hello["evaluator"]:
        raise ConfigError(
            f"worker {worker} has other test, conftest, family or evaluator files than the controller: "
            "bring its copy of the project up to date"
        )


class WorkerRun:
    """`pytest --evolve` in an xdist worker: rollouts that the controller asks for take the place of the tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        # xdist would add the group of a test to its id (--dist loadgroup).
        config.option.loadgroup = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answer until the controller has enough."""
        from .core.gates.redaction import redactor, secret_values
        from .execution.distributed import CHANNEL
        from .execution.items import ItemRunner
        from .execution.worker import WorkerLoop

        config = self._config
        runner = ItemRunner(session, skill_items(session.items))
        make = local_executor(runner, config, redactor(secret_values(os.environ)))
        channel = config.workerinput[CHANNEL]  # type: ignore[attr-defined]
        loop = WorkerLoop(channel, make, concurrency(config), lambda name: limiting.open_ledger(config, name))
        _on_shutdown(config, loop.shut_down)
        runner.open()
        try:
            loop.run(collected(session))
        finally:
            try:
                runner.close()
            except InfrastructureError as error:
                loop.notice(str(error))
        return True


def _on_shutdown(config: pytest.Config, call: Callable[[], None]) -> None:
    """Call when xdist tells this worker to end, or when the controller is gone."""
    (interactor,) = (one for one in config.pluginmanager.get_plugins() if type(one).__name__ == "WorkerInteractor")

    def hear(command: Any) -> None:
        if command is None or command[0] == "shutdown":
            call()

    interactor.channel.setcallback(hear, endmarker=None)
