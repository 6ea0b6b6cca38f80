"""`pytest --evolve-aa`: the present skill against itself, with different seeds, to know how much is noise."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import pytest

from . import options
from .collection import Marked, build_cases, skill_items
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
#: The same for the digests of the files that decided its scores.
FILES: Final = "aa/files"


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
        progress = ProgressLines(write, time.monotonic, live=live, width=self._width())
        try:
            tried = wiring.run_trial(session, trial, items, progress)
        finally:
            progress.finish()
        self._noise = noise_of(
            tried.measured.holdout, setting.settings.rules, Verdict(tried.report["decision"]["verdict"])
        )
        with wiring.open_store(self._config) as store:
            if all(entry.key != KEY for entry in store.entries(tried.id)):
                files = JournalEntry(FILES, "noise", scoring_files(session, seed.name))
                store.append(tried.id, [JournalEntry(KEY, "noise", self._noise.to_json()), files])
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


def earlier_noise(session: pytest.Session, skill: str, report: Mapping[str, Any]) -> str:
    """What the last A/A of this skill found, in a sentence; empty when there was none.

    One that measured something else than the gate does is called stale, and quoted only when there is no other.
    """
    from . import wiring
    from .collection import home_folder
    from .store import Store

    config = session.config
    if not Store.exists(home_folder(config), wiring.store_url(config)):
        return ""
    files, stale = scoring_files(session, skill), ""
    with wiring.open_store(config) as store:
        for one in store.experiments(skill):
            found = {entry.key: entry.payload for entry in store.entries(one.id)}
            if one.settings.get("kind") != "aa" or KEY not in found:
                continue
            noise = Noise(**{**found[KEY], "verdict": Verdict(found[KEY]["verdict"])})
            told = f"{noise.sentence}, on {one.created_at[:10]}"
            other = list(_differences(one.settings.get("identity", {}), found.get(FILES), report, files))
            if not other:
                return told
            stale = stale or f"{told}; that is stale, with {' and '.join(other)}: run --evolve-aa again"
    return stale


def scoring_files(session: pytest.Session, skill: str) -> dict[str, str]:
    """Digests of the files that decide the scores of a skill's cases."""
    from . import wiring

    mine = [one for one in build_cases(skill_items(session.items)) if one.case.skill == skill]
    return wiring.evaluator_digests(session, mine)


def _differences(
    identity: Mapping[str, Any], known: Mapping[str, str] | None, report: Mapping[str, Any], files: Mapping[str, str]
) -> Iterator[str]:
    """What an A/A had that the report of a gate has not."""
    models = identity.get("models", {})
    used = {role: name for role, name in report["model"]["roles"].items() if name is not None}
    if other := sorted({str(models.get(role)) for role, name in used.items() if models.get(role) != name}):
        yield f"another model ({', '.join(other)})"
    if identity.get("dataset version") != report["dataset"]["fingerprint"]:
        yield "other cases"
    elif known != files:
        yield "other tests"
    if identity.get("versions") != report["experiment"]["versions"]:
        yield "other versions of pytest-skillevo, pytest or Python"
