"""`pytest --evolve-online`: what learning from task to task is worth, for every skill of the selected cases."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING, Any

import pytest

from . import options
from .collection import Marked, build_cases, load_active_skill, shown_path, skill_items
from .evolve import EvolveRun, natural
from .gate.suite import command_of

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from .report.progress import ProgressLines
    from .stages.experiment import Setting


class OnlineRun(EvolveRun):
    """One `pytest --evolve-online` session."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        self._figures: dict[str, Any] | None = None

    def _experiment(self, session: pytest.Session) -> None:
        from . import wiring
        from .core.gates.redaction import redactor, secret_values
        from .gate.plan import check_rollouts
        from .report.json_file import clean, write_report
        from .stages.online import GROUPS, ROUNDS, online_rollouts

        path = _report_path(self._config)
        marked = sorted(build_cases(skill_items(session.items)), key=lambda one: natural(one.case.id))
        if not marked:
            self._message = "no case for an experiment: none of the collected tests carries @pytest.mark.skill"
            self._exit = pytest.ExitCode.NO_TESTS_COLLECTED
            return
        settings = [self._setting(session, name, marked) for name in self._skills(marked)]
        check_rollouts(self._config, sum(map(online_rollouts, settings)))
        tasks = []
        for setting in settings:
            with self._progress() as progress:
                items = [one.item for one in marked if one.case.skill == setting.folder]
                tasks += wiring.run_online(session, setting, items, progress)
        figures = {
            "model": settings[0].model_part(),
            "rounds": ROUNDS,
            "groups": list(GROUPS),
            "tasks": [task.to_json() for task in tasks],
        }
        self._figures = clean(figures, redactor(secret_values(os.environ)))
        if path is not None:
            write_report(path, self._figures)
            self._paths = [shown_path(self._config, path)]
        missing = sum(task.run.score is None for task in tasks)
        self._exit = 1 if missing else 0
        if missing:
            self._message = f"{missing} of {len(tasks)} tasks gave no score (skipped, or an error that came again)"

    def _skills(self, marked: Sequence[Marked]) -> list[str]:
        names = sorted({one.case.skill for one in marked})
        return [self._skill_name(marked)] if options.value_of(self._config, "evolve_skill") else names

    def _setting(self, session: pytest.Session, name: str, marked: Sequence[Marked]) -> Setting:
        """The setting of one skill, checked before anything is spent on another."""
        from . import wiring
        from .stages.dataset import Dataset

        mine = [one for one in marked if one.case.skill == name]
        dataset = Dataset(name, tuple(one.case for one in mine), self._partial(session))
        dataset.require(("feedback",))
        seed = load_active_skill(self._config, mine[0].item, name, all(one.may_be_absent for one in mine))
        return wiring.setting_for(session, dataset, seed, mine, command_of(self._config))

    @contextmanager
    def _progress(self) -> Iterator[ProgressLines]:
        from .report.progress import ProgressLines

        write, live = self._writer()
        progress = ProgressLines(write, time.monotonic, live=live, width=self._width())
        try:
            yield progress
        finally:
            progress.finish()

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """Both groups side by side."""
        if self._figures is not None:
            terminalreporter.section("online experiment")
            for line in [*group_lines(self._figures), *(f"report: {path}" for path in self._paths)]:
                terminalreporter.write_line(line)
        super().pytest_terminal_summary(terminalreporter)


def group_lines(figures: Mapping[str, Any]) -> list[str]:
    """A line for each group, for a person."""
    model = figures["model"]
    lines = [f"model {model['name']}" + (": machinery only, no LLM result" if model["kind"] == "simulated" else "")]
    for group in figures["groups"]:
        tasks = [one for one in figures["tasks"] if one["group"] == group]
        ran = [one["run"] for one in tasks if one["run"]["score"] is not None]
        parts = [f"{group:<10} {len(ran)} of {len(tasks)} tasks ran"]
        if ran:
            passed = sum(run["passed"] is True for run in ran)
            parts += [f"{passed} passed", f"score {mean(run['score'] for run in ran):.3f}", _tokens(ran)]
            parts += [f"skill loaded in {sum(run['loaded'] for run in ran)}"]
            parts += [f"changed after {sum(run['updated'] for run in ran)}"]
        lines.append(", ".join(parts))
    return lines


def _tokens(ran: Sequence[Mapping[str, Any]]) -> str:
    known = [run["tokens"] for run in ran if run["tokens"] is not None]
    return f"{mean(known):,.0f} tokens a task" if len(known) == len(ran) else "tokens unknown"


def _report_path(config: pytest.Config) -> Path | None:
    """Where the figures go. Raises pytest.UsageError for another kind than JSON."""
    from .reporting import report_paths

    if not options.value_of(config, "evolve_report"):
        return None
    paths = report_paths(config, "online")
    if len(paths) > 1 or paths[0].suffix.lower() != ".json":
        raise pytest.UsageError("--evolve-online writes one report, as .json: give --evolve-report=PATH.json")
    return paths[0]
