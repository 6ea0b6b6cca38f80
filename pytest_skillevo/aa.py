"""`pytest --evolve-aa`: the present skill against itself, with different seeds, to know how much is noise."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pytest

from . import options
from .collection import Marked
from .core.verdict import Noise, Verdict, noise_of
from .evolve import EvolveRun
from .gate.plan import check_rollouts, planned
from .gate.suite import command_of
from .report.trial_plan import trial_plan_lines
from .stages.trial_plan import PlannedTrial

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from .core.skill import Skill
    from .stages.dataset import Dataset

#: Key of the journal entry that holds the figures.
KEY: Final = "aa/noise"


class AARun(EvolveRun):
    """One `pytest --evolve-aa` session."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        self._noise: Noise | None = None
        self._planned: PlannedTrial | None = None

    def _run(self, session: pytest.Session, dataset: Dataset, seed: Skill, mine: Sequence[Marked]) -> None:
        from . import wiring
        from .report.progress import ProgressLines
        from .stages.trial import Trial
        from .store import JournalEntry

        setting = wiring.setting_for(session, dataset, seed, mine, command_of(self._config))
        setting.dataset.require(("holdout",))
        write, live = self._writer()
        items = [one.item for one in mine]
        trial = Trial(setting, seed, "aa", wiring.roles_used(items), apart=True)
        if options.switched_on(self._config, "evolve_plan"):
            self._planned, self._exit = planned(self._config, trial, seed.name), 0
            return
        check_rollouts(self._config, trial.budget)
        progress = ProgressLines(write, time.monotonic, live=live)
        try:
            tried = wiring.run_trial(session, trial, items, progress)
        finally:
            progress.finish()
        self._noise = noise_of(
            tried.measured.holdout, setting.settings.rules, Verdict(tried.report["decision"]["verdict"])
        )
        with wiring.open_store(self._config) as store:
            if all(entry.key != KEY for entry in store.entries(tried.id)):
                store.append(tried.id, [JournalEntry(KEY, "noise", self._noise.to_json())])
        self._exit = 0

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """The figures, and what they mean for a gate."""
        if self._planned is not None:
            terminalreporter.section("A/A: plan")
            for line in trial_plan_lines([self._planned]):
                terminalreporter.write_line(line)
        if self._noise is not None:
            terminalreporter.section("A/A: the skill against itself")
            for line in noise_lines(self._noise, options.value_of(self._config, "evolve_goal")):
                terminalreporter.write_line(line)
        super().pytest_terminal_summary(terminalreporter)


def noise_lines(noise: Noise, goal: str) -> list[str]:
    """The figures of an A/A for a person."""

    def shown(value: float | None) -> str:
        return "unknown" if value is None else f"{value:.3f}"

    lines = [
        noise.sentence + ".",
        f"  spread of a case's difference  {shown(noise.sd)} ({noise.repeats} runs each)",
        f"  spread of its log token ratio  {shown(noise.token_log_sd)}",
        f"  goal {goal} would have said       {noise.verdict.replace('_', ' ')}",
    ]
    if goal == "quality" and noise.verdict in (Verdict.ACCEPT, Verdict.REJECT):
        lines.append("  One in twenty says so by chance; if it comes again, the arms differ in something else.")
    return lines


def earlier_noise(config: pytest.Config, skill: str, report: Mapping[str, Any]) -> str:
    """What the last A/A of this skill with this model found, in a sentence; empty when there was none."""
    from . import wiring
    from .collection import home_folder
    from .store import Store

    if not Store.exists(home_folder(config), wiring.store_url(config)):
        return ""
    with wiring.open_store(config) as store:
        for one in store.experiments(skill):
            identity = one.settings.get("identity", {})
            models = identity.get("models", {})
            used = {role: name for role, name in report["model"]["roles"].items() if name is not None}
            if one.settings.get("kind") != "aa" or any(models.get(role) != name for role, name in used.items()):
                continue
            for entry in store.entries(one.id):
                if entry.key == KEY:
                    noise = Noise(**{**entry.payload, "verdict": Verdict(entry.payload["verdict"])})
                    same = identity.get("dataset version") == report["dataset"]["fingerprint"]
                    since = "" if same else "; the cases have changed since"
                    return f"{noise.sentence}, on {one.created_at[:10]}{since}"
    return ""
