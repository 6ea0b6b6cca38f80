"""Plain runs: skill cases as ordinary tests on the active skill, with holdout details kept closed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .chatmodels import closing_words, model_names, quiet_warnings
from .collection import build_cases, load_active_skill, marker, skills_folder
from .core.draws import seed_of
from .core.errors import ConfigError, EvaluationError, InfrastructureError, SkillError
from .core.records import SPLITS
from .core.rollout import Rollout
from .core.skill import Skill
from .execution.bodies import AsyncCases, Bodies
from .models.cassettes.miss import CassetteMiss
from .options import evolving, switched_on, value_of
from .scores import note_score, score_lines

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

_ROLLOUT: pytest.StashKey[Rollout] = pytest.StashKey()
_SKILLS: pytest.StashKey[dict[str, Skill]] = pytest.StashKey()

#: Name of the plugin that learns from plain runs.
LEARNER = "skillevo-learn"

HIDDEN = (
    "a holdout case failed; why stays closed, so that nobody tunes a skill on it (--skillevo-show-holdout opens it)"
)


def plain_rollout(item: pytest.Item) -> Rollout:
    """A rollout for one plain run of a case; its seed depends on the case and --evolve-seed only."""
    seed = seed_of("plain", value_of(item.config, "evolve_seed"), item.nodeid)
    rollout = Rollout(item.nodeid, seed)
    item.stash[_ROLLOUT] = rollout
    return rollout


def plain_skill(config: pytest.Config, item: pytest.Item, version: str | None) -> Skill:
    """The active skill, or the named version: "active", "none", a revision id, or a folder beside the test file."""
    wanted = marker(item, "skill")
    if wanted is None:
        raise pytest.UsageError(f"{item.nodeid}: the skill fixture needs a marker: @pytest.mark.skill('NAME')")
    name: str = wanted["name"]
    if version == "none":
        return Skill.absent(name)
    known = config.stash.setdefault(_SKILLS, {})
    key = f"{name}\x1f{version or 'active'}\x1f{item.path.parent if version else ''}"
    if key not in known:
        if version is None or version == "active":
            known[key] = load_active_skill(config, item, name, wanted["may_be_absent"])
        else:
            known[key] = _named_version(config, item, name, version)
    return known[key]


def _named_version(config: pytest.Config, item: pytest.Item, name: str, version: str) -> Skill:
    if version.startswith("rv-"):
        from .wiring import open_store

        try:
            with open_store(config) as store:
                return store.skill_of(store.revision(version))
        except ConfigError as error:
            raise pytest.UsageError(f"{item.nodeid}: variant {version!r}: {error}") from None
    places: list[Path] = [item.path.parent / version, skills_folder(config) / version]
    for folder in places:
        if folder.is_dir():
            try:
                return Skill.load(folder)
            except SkillError as error:
                raise pytest.UsageError(f"{item.nodeid}: variant {version!r}: {error}") from None
    raise pytest.UsageError(
        f"{item.nodeid}: variant {version!r} of skill {name!r} is none of: active, none, a revision id (rv-...), "
        f"a folder beside the test file or in {skills_folder(config).name}/"
    )


def _without_the_case(error: BaseException) -> str:
    """Why a holdout case failed, as far as it has nothing to do with what the case asks."""
    if isinstance(error, InfrastructureError | ConfigError) and not isinstance(error, EvaluationError):
        return str(getattr(error, "headline", error))
    return HIDDEN


def _rollout_of(item: pytest.Item) -> Rollout:
    """The rollout of the run; a case that only asserts has none of its own."""
    return item.stash.get(_ROLLOUT, None) or Rollout(item.nodeid, 0)


def show_scores(terminal: TerminalReporter) -> None:
    """Write the mean scores of all skill cases that were reported, also those of workers."""
    reports = [one for kind in ("passed", "failed") for one in terminal.stats.get(kind, ())]
    for line in score_lines(reports, _model(terminal.config)):
        terminal.write_line(line)


def _model(config: pytest.Config) -> str:
    mode = value_of(config, "evolve_cassettes")
    return model_names(config)["agent"] + ("" if mode == "off" else f" (cassettes: {mode})")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def parametrize_variants(metafunc: pytest.Metafunc) -> None:
    """`@pytest.mark.variants("a", "b")`: one test per named version, in plain runs."""
    mark = metafunc.definition.get_closest_marker("variants")
    if mark is None or "skill" not in metafunc.fixturenames:
        return
    names = mark.args
    if not names or not all(isinstance(name, str) and name for name in names) or mark.kwargs:
        raise pytest.UsageError(f"{metafunc.definition.nodeid}: marker variants takes names of versions as text")
    metafunc.parametrize("skill", names, indirect=True, ids=list(names))


def learn_from(config: pytest.Config) -> None:
    """Let a plain run learn from its feedback cases (--evolve-learn). Raises pytest.UsageError for an experiment."""
    from .online import LearnRun

    if evolving(config):
        raise pytest.UsageError("--evolve-learn is for plain runs: an experiment changes nothing meanwhile")
    config.pluginmanager.register(LearnRun(config, lambda item: item.stash.get(_ROLLOUT, None)), LEARNER)


class PlainRun:
    """Hooks for a plain run that collected skill cases."""

    def __init__(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        self._config = config
        self._cases = {marked.case.id: marked.case for marked in build_cases(items)}
        self._show = switched_on(config, "skillevo_show_holdout")
        learner = config.pluginmanager.get_plugin(LEARNER)
        if learner is not None:
            learner.watch(self._cases)
        quiet_warnings(config)
        self._opened: list[str] = []
        self._closing: tuple[str, ...] = ()
        self._bodies = Bodies()
        config.pluginmanager.register(AsyncCases(self._bodies), "skillevo-async-cases")
        config.add_cleanup(self._bodies.close)

    def pytest_report_collectionfinish(self) -> str:
        """One line on what was found."""
        cases = self._cases.values()
        counts = Counter(case.split for case in cases)
        skills = len({case.skill for case in cases})
        parts = [f"{counts[split]} {split}" for split in SPLITS]
        critical = sum(case.critical for case in cases)
        if critical:
            parts.append(f"{critical} critical")
        retired = sum(case.retired for case in cases)
        if retired:
            parts.append(f"{retired} retired from the holdout")
        found = f"{_counted(skills, 'skill')}, {_counted(len(self._cases), 'case')} ({', '.join(parts)})"
        line = f"skillevo: {found}, model {_model(self._config)}"
        if not counts["holdout"]:
            return line
        if self._show:
            return line + "; holdout details are shown: that counts as an opening"
        return line + "; holdout cases run but their details stay hidden (--skillevo-show-holdout)"

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Any:
        """A misused rollout or a failed check fails the test; a recorded score never does."""
        case = self._cases.get(pyfuncitem.nodeid)
        try:
            result = yield
        except (AssertionError, pytest.fail.Exception) as failure:
            if case is not None:
                note_score(pyfuncitem, case, _rollout_of(pyfuncitem), str(failure) or "failed")
            raise
        if case is not None:
            rollout = _rollout_of(pyfuncitem)
            note_score(pyfuncitem, case, rollout, None)
            if rollout.misuse is not None:
                raise rollout.misuse
            if rollout.breaches:
                pytest.fail("; ".join(rollout.breaches), pytrace=False)
            if rollout.failed_checks:
                pytest.fail("checks failed: " + "; ".join(rollout.failed_checks), pytrace=False)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
        """Plain runs show pass or fail of a holdout case, not why."""
        report: pytest.TestReport = yield
        case = self._cases.get(item.nodeid)
        failed_call = report.when == "call" and report.failed
        error = call.excinfo.value if failed_call and call.excinfo is not None else None
        if isinstance(error, CassetteMiss | ConfigError) and not isinstance(error, EvaluationError):
            report.longrepr = str(error)  # a traceback through the agent or the engine would only hide it
        if case is None or case.split != "holdout":
            return report
        if self._show:
            if failed_call:
                self._opened.append(case.id)
            return report
        # Captured output tells as much as an assert; pytest shows it with -rP and hands it to the teardown report too.
        report.sections = []
        item._report_sections.clear()
        if failed_call:
            report.longrepr = HIDDEN if error is None else _without_the_case(error)
        return report

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self) -> None:
        """End the cassettes, and note in the exposure ledger which holdout cases a person was shown."""
        self._closing = closing_words(self._config)
        if self._opened:
            self._note_openings()

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """The scores, and what models and cassettes want to say."""
        show_scores(terminalreporter)
        for line in self._closing:
            terminalreporter.write_line(f"skillevo: {line}")

    def _note_openings(self) -> None:
        from .wiring import open_store

        opened = [self._cases[case_id] for case_id in self._opened]
        with open_store(self._config) as store:
            for skill in sorted({case.skill for case in opened}):
                fingerprints = [case.ledger_key for case in opened if case.skill == skill]
                store.record_opening(fingerprints, "plain run", skill, "shown to a person")
