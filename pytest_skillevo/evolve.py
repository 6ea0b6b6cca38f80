"""`pytest --evolve`: the run loop of an experiment, from collected items to exit code."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import pytest

from . import executing, options
from .chatmodels import closing_words, quiet_warnings
from .collection import Marked, build_cases, load_active_skill, shown_path, skill_items
from .core.errors import ConfigError, ExperimentInterrupted, InfrastructureError, StoreError
from .core.suggest import did_you_mean
from .termination import sigterm_as_ctrl_c

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from .core.skill import Skill
    from .report.plan import Plan as PlanFigures
    from .stages.dataset import Dataset

#: Options that repeat, reorder or hide what an experiment does, and what to do instead.
_REFUSED = (
    ("usepdb", "--pdb", "a rollout is run many times; debug the case in a plain run"),
    ("trace", "--trace", "a rollout is run many times; debug the case in a plain run"),
    ("setuponly", "--setup-only", "no test body would run"),
    ("setupplan", "--setup-plan", "no test body would run"),
    ("forked", "--forked", "the experiment needs one process with its fixtures"),
)


class EvolveRun:
    """One `pytest --evolve` session."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._deselected = 0
        self._report: dict[str, Any] | None = None
        self._paths: list[str] = []
        self._plan: PlanFigures | None = None
        self._message = ""
        self._exit: int | None = None
        self._collection_errors = 0
        _refuse_options(config)
        quiet_warnings(config)
        executing.prepare_workers(config)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool | None:
        """Collect also where xdist would leave it to the workers: the engine needs the cases here."""
        if not executing.distributed(self._config):
            return None
        session.perform_collect()
        return True

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """A selection that leaves cases out makes the dataset partial."""
        self._deselected += len(skill_items(items))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Run the experiment instead of the tests."""
        option = self._config.option
        self._collection_errors = session.testsfailed
        if session.testsfailed and not option.continue_on_collection_errors:
            raise session.Interrupted(f"{session.testsfailed} errors during collection: nothing was run")
        if option.collectonly:
            return None
        try:
            with sigterm_as_ctrl_c():
                self._experiment(session)
        except (ConfigError, StoreError) as error:
            raise pytest.UsageError(str(error)) from None
        except (ExperimentInterrupted, InfrastructureError) as error:
            self._message, self._exit = str(error), pytest.ExitCode.TESTS_FAILED
        return True

    def _experiment(self, session: pytest.Session) -> None:
        from .stages.dataset import Dataset

        chosen = skill_items(session.items)
        if not chosen:
            self._message = "no case for an experiment: none of the collected tests carries @pytest.mark.skill"
            self._exit = pytest.ExitCode.NO_TESTS_COLLECTED
            return
        marked = sorted(build_cases(chosen), key=lambda one: natural(one.case.id))
        name = self._skill_name(marked)
        mine = [one for one in marked if one.case.skill == name]
        for one in mine:
            if "skill" not in getattr(one.item, "fixturenames", ()):
                raise pytest.UsageError(
                    f"{one.case.id}: the case does not use the skill fixture, so no version matters to it"
                )
        unrelated = len(session.items) - len(chosen)
        dataset = Dataset(name, tuple(one.case for one in mine), self._partial(session), unrelated)
        seed = load_active_skill(self._config, mine[0].item, name, all(one.may_be_absent for one in mine))
        self._run(session, dataset, seed, mine)

    def _run(self, session: pytest.Session, dataset: Dataset, seed: Skill, mine: Sequence[Marked]) -> None:
        from . import casereports, junit, reporting, wiring
        from .report.json_file import clean
        from .report.progress import ProgressLines

        command = " ".join(["pytest", *executing.without_workers(map(str, self._config.invocation_params.args))])
        setting = wiring.setting_for(session, dataset, seed, mine, command)
        setting.require()
        if options.switched_on(self._config, "evolve_plan"):
            self._plan = cast(Any, wiring.plan_of(self._config, setting))
            return
        reporting.report_paths(self._config, "any")  # a wrong path is told before anything is spent
        write, live = self._writer()
        progress = ProgressLines(write, time.monotonic, live=live, width=self._width())
        items = [one.item for one in mine]
        try:
            report = wiring.run_experiment(session, setting, items, progress)
        except (KeyboardInterrupt, pytest.exit.Exception, session.Failed, session.Interrupted) as stop:
            # pytest.exit may ask for exit code 0, and an experiment without a verdict must not look like one.
            self._exit = pytest.ExitCode.INTERRUPTED
            name = self._config.stash.get(wiring.RESUMABLE, None)
            if name is not None:
                best = f"; {stop}" if isinstance(stop, KeyboardInterrupt) and str(stop) else ""
                self._message = f"interrupted; nothing is lost: go on with --evolve-resume={name}{best}"
            raise
        finally:
            progress.finish()
        paths = reporting.report_paths(self._config, report["experiment"]["id"])
        self._report = clean(report, setting.redact)
        reporting.write_reports(self._config, self._report, paths)
        self._paths = [shown_path(self._config, path) for path in paths]
        self._exit = 1 if report["decision"]["verdict"] == "BLOCKED" else 0
        casereports.publish(session, report, items)
        junit.add_decision(self._config, self._report, failed=self._exit != 0)

    def _skill_name(self, marked: Sequence[Marked]) -> str:
        names = sorted({one.case.skill for one in marked})
        wanted: str | None = options.value_of(self._config, "evolve_skill")
        if wanted is None and len(names) > 1:
            raise pytest.UsageError(
                f"the selected cases exercise {len(names)} skills ({', '.join(names)}); "
                "--evolve takes one: choose it with --evolve-skill NAME"
            )
        if wanted is not None and wanted not in names:
            advice = did_you_mean(wanted, names) or f"They exercise: {', '.join(names)}."
            raise pytest.UsageError(f"--evolve-skill={wanted}: no selected case exercises that skill. {advice}")
        return wanted or names[0]

    def _partial(self, session: pytest.Session) -> str | None:
        """Why the selection is not the whole dataset, None when nothing speaks against it."""
        config = self._config
        if self._deselected:
            noun = "case was" if self._deselected == 1 else "cases were"
            return f"{self._deselected} {noun} deselected (-k, -m, --deselect or --lf)"
        if any("::" in argument for argument in config.args):
            return "single tests were named on the command line"
        if (
            getattr(config.option, "lf", False)
            and config.cache is not None
            and config.cache.get("cache/lastfailed", {})
        ):
            return "--lf selects the cases that failed last"
        if session.testsfailed:
            return f"{session.testsfailed} test modules could not be collected"
        return None

    @pytest.hookimpl(wrapper=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Any:
        """The experiment decides the exit code, unless the session was interrupted or misused."""
        result = yield
        if self._exit is not None and session.exitstatus in (0, 1, 5):
            # With --continue-on-collection-errors a broken module is still a failure, whatever the verdict.
            session.exitstatus = self._exit or int(self._collection_errors > 0)
        return result

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """The decision and its evidence."""
        if self._plan is not None:
            from .report.plan import plan_lines

            for line in plan_lines(self._plan):
                terminalreporter.write_line(line)
        if self._report is not None:
            from .report.github import annotate
            from .report.markdown import markdown
            from .report.terminal import end_screen
            from .reporting import github_lines

            screen = end_screen(self._report, self._paths)
            terminalreporter.section(screen.title)
            annotations = partial(annotate, self._report)
            for line in [*screen.lines, *github_lines(self._config, annotations, markdown(self._report))]:
                terminalreporter.write_line(line)
        for notice in self._notices():
            terminalreporter.write_line(f"skillevo: {notice}")
        if self._message:
            terminalreporter.write_line(f"skillevo: {self._message}")

    def _notices(self) -> tuple[str, ...]:
        from .wiring import NOTICES

        return (*self._config.stash.get(NOTICES, ()), *closing_words(self._config))

    def _writer(self) -> tuple[Callable[[str], None], bool]:
        """Where progress goes, and whether that is a terminal."""
        terminal = self._terminal()
        return (_writer(terminal), bool(terminal.isatty)) if terminal is not None else (_silent, False)

    def _width(self) -> int:
        """Columns for the live line."""
        from .report.progress import WIDTH

        terminal = self._terminal()
        return WIDTH if terminal is None or not terminal.isatty else int(terminal._tw.fullwidth)

    def _terminal(self) -> TerminalReporter | None:
        found: TerminalReporter | None = self._config.pluginmanager.getplugin("terminalreporter")
        return found


def _silent(text: str) -> None:
    return None


def _writer(terminal: TerminalReporter) -> Callable[[str], None]:
    terminal.ensure_newline()
    return lambda text: terminal._tw.write(text, flush=True)


def _refuse_options(config: pytest.Config) -> None:
    for name, shown, advice in _REFUSED:
        if getattr(config.option, name, None):
            raise pytest.UsageError(f"--evolve does not go with {shown}: {advice}")
    if getattr(config.option, "count", 1) not in (1, None):
        raise pytest.UsageError("--evolve does not go with --count: use --evolve-repeats")
    retry = config.pluginmanager.getplugin("pytest_retry") or config.pluginmanager.getplugin("pytest-retry")
    if retry is not None or getattr(config.option, "retries", None):
        raise pytest.UsageError(
            "--evolve does not go with pytest-retry (-p no:pytest-retry): a case retried until it passes proves nothing"
        )
    if options.switched_on(config, "skillevo_show_holdout"):
        raise pytest.UsageError("--evolve does not go with --skillevo-show-holdout: it opens the holdout of plain runs")
    if options.value_of(config, "evolve_accept_reason") is not None and not options.switched_on(config, "evolve_gate"):
        raise pytest.UsageError("--evolve-accept-reason belongs to the merge gate: give --evolve-gate as well")
    if hasattr(config.option, "randomly_reset_seed"):
        # pytest-randomly would set the seed of `random` after us, and so override the seed of the rollout.
        config.option.randomly_reset_seed = False


def natural(text: str) -> list[tuple[int, int | str]]:
    """Sort key in which case-2 comes before case-10, whatever order the cases were collected in."""
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d+)", text) if part]
