"""`pytest --evolve-gate`: may the skills of this working tree be merged?

Only skills whose bytes differ from the reference's are judged. A git reference brings its own tests and settings, and
they judge; the tests of the working tree judge only skills that the reference does not know.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .. import options
from ..collection import config_folder, shown_path, skills_folder
from ..core.errors import ConfigError, SkillError
from ..core.merge import CaseMark, Circumstances, judged, lost_cases, missing_cases, passes
from ..core.skill import Skill
from ..core.verdict import Decision, PairedCase, Rules, Verdict, confirm_together
from ..core.versions import Change, changes, skills_in
from ..evolve import EvolveRun
from ..report import story
from ..report.gate import GateLine, GateScreen, gate_annotations, gate_lines, gate_markdown, unchanged_note
from ..report.trial_plan import trial_plan_lines
from ..stages.trial_plan import PlannedTrial
from .reference import Place, Reference, laid_out, repository
from .suite import Findings, Judged, Output, case_marks, command_of, judge_here, judge_there
from .trust import ENDED, check_origin

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter


@dataclass(slots=True)
class _Compared:
    """What the sessions found, by the name of the changed skill."""

    judged: dict[str, Judged] = field(default_factory=dict)
    #: By the skill's name in the reference: cases and marks that the change takes away.
    lost: dict[str, list[str]] = field(default_factory=dict)
    narrowed: dict[str, str] = field(default_factory=dict)
    planned: list[PlannedTrial] = field(default_factory=list)

    def add(self, findings: Findings, changed: Sequence[Change]) -> None:
        """Take what one session found about these changes."""
        self.judged.update((one.name, one) for one in findings.judged)
        self.planned += findings.planned
        self.narrowed.update((change.name, findings.narrowed) for change in changed if findings.narrowed)


class GateRun(EvolveRun):
    """One `pytest --evolve-gate` session."""

    def __init__(self, config: pytest.Config) -> None:
        super().__init__(config)
        check_origin(config)
        self._screen: GateScreen | None = None
        self._files: list[str] = []
        self._annotations: list[str] = []
        self._plan_lines: list[str] = []
        if options.value_of(config, "evolve_baseline") is None:
            raise pytest.UsageError("--evolve-gate needs --evolve-baseline=REF: what shall it compare with?")

    def _experiment(self, session: pytest.Session) -> None:
        from ..casereports import publish_gate
        from ..reporting import github_lines
        from .files import cleaned_screen, paths_of, write_files

        config = self._config
        place = Place(
            config.invocation_params.dir, config_folder(config), skills_folder(config), lambda: _store(config)
        )
        paths_of(config)  # a wrong path is told before anything is spent
        with laid_out(options.value_of(config, "evolve_baseline"), place) as reference:
            before, after = _skills(reference.skills, reference.only), _skills(skills_folder(config), reference.only)
            if not before and not after:
                raise ConfigError(f"there is no skill in {shown_path(config, skills_folder(config))}/, then or now")
            changed = changes(before, after)
            compared = self._compare(session, reference, changed) if changed else _Compared()
            if changed and _skills(skills_folder(config), reference.only) != after:
                raise ConfigError("a skill changed while the gate ran; start again")
        unchanged = sum(before.get(name) == skill for name, skill in after.items())
        if config.getoption("evolve_plan"):
            self._plan_lines, self._exit = _planned(reference, changed, compared, unchanged), 0
            config.stash[ENDED] = True
            return
        self._decide(session, reference, changed, compared, unchanged)
        assert self._screen is not None
        self._screen = cleaned_screen(self._screen)
        annotations = partial(gate_annotations, self._screen)
        self._annotations = github_lines(config, annotations, gate_markdown(self._screen))
        self._files = write_files(session, self._screen, reference, compared.judged, after, changed)
        for line in self._screen.lines:
            publish_gate(session, line)
        self._exit = 0 if self._screen.passed else 1
        config.stash[ENDED] = True

    def _compare(self, session: pytest.Session, reference: Reference, changed: Sequence[Change]) -> _Compared:
        narrowed = self._partial(session) or ""
        compared = _Compared()
        if narrowed:
            compared.narrowed = dict.fromkeys((change.name for change in changed), narrowed)
            return compared
        output = Output(*self._writer(), self._width())
        mine = list(changed)
        if reference.tree is not None:
            here_are = case_marks(session)  # a case that cannot be one is told before anything is spent
            there = self._there(reference, changed, output)
            compared.add(there, changed)
            compared.lost = _lost(there.cases, here_are, changed)
            # What the reference does not know at all is judged by the cases that come with it.
            known = {case.skill for case in there.cases}
            mine = [change for change in changed if change.kind == "added" and change.was not in known]
        if mine:
            compared.add(judge_here(session, mine, "", command_of(self._config), output), mine)
        return compared

    def _there(self, reference: Reference, changed: Sequence[Change], output: Output) -> Findings:
        assert reference.tree is not None
        root = config_folder(self._config)
        top = repository(root) if reference.kind == "git" else root
        with tempfile.TemporaryDirectory(prefix="skillevo-gate-", ignore_cleanup_errors=True) as temp:
            return judge_there(self._config, reference.tree, (top or root).resolve(), changed, Path(temp), output)

    def _decide(
        self,
        session: pytest.Session,
        reference: Reference,
        changed: Sequence[Change],
        compared: _Compared,
        unchanged: int,
    ) -> None:
        decisions = _together(list(compared.judged.values()))
        accept = self._config.getoption("evolve_accept_reason")
        allow = bool(self._config.getoption("allow_simulated"))
        lines, simulated = [], False
        for change in changed:
            found = compared.judged.get(change.name)
            is_simulated = found is not None and story.is_simulated(found.report)
            simulated = simulated or is_simulated
            facts = Circumstances(
                narrowed=compared.narrowed.get(change.name, ""),
                left_out=() if found is None else found.left_out,
                missing=() if found is None else missing_cases(found.pairs),
                lost=compared.lost.get(change.was, ()),
                refused=_refused(self._config, change),
                leak="" if found is None else found.leak,
                simulated=is_simulated and not allow,
            )
            decision = judged(decisions.get(change.name, _no_cases(change, reference)), facts)
            notes = [] if found is None else self._notes(session, change, found)
            merge = passes(decision, accept)
            if merge and decision.verdict is Verdict.INCONCLUSIVE:
                notes.append(f"a person lets it pass all the same: {accept}")
            elif accept and not merge:
                notes.append("--evolve-accept-reason overrides INCONCLUSIVE only")
            report = None if found is None else _with_decision(found.report, decision, notes)
            lines.append(
                GateLine(change.name, change.kind, decision.verdict, decision.reason, merge, tuple(notes), report)
            )
        self._screen = GateScreen(reference.label, tuple(lines), unchanged, simulated)

    def _notes(self, session: pytest.Session, change: Change, found: Judged) -> list[str]:
        from ..aa import earlier_noise

        notes = []
        if found.openings:
            times = "once" if found.openings == 1 else f"{found.openings} times"
            notes.append(f"these holdout cases were used {times} before")
        noise = earlier_noise(session, change.was, found.report)
        notes += [noise] if noise else []
        return notes

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        """The answer for every changed skill."""
        if self._plan_lines:
            terminalreporter.section("skill gate: plan")
            for line in self._plan_lines:
                terminalreporter.write_line(line)
        if self._screen is not None:
            terminalreporter.section(self._screen.title)
            for line in [*gate_lines(self._screen, self._files), *self._annotations]:
                terminalreporter.write_line(line)
        super().pytest_terminal_summary(terminalreporter)


def _planned(reference: Reference, changed: Sequence[Change], compared: _Compared, unchanged: int) -> list[str]:
    """The screen of --evolve-plan."""
    known = {plan.name: plan for plan in compared.planned}
    notes = [f"compared with: {reference.label}", *unchanged_note(unchanged, bool(changed))]
    for change in changed:
        if change.name in compared.narrowed:
            notes.append(
                f"{change.name} would be BLOCKED: not all cases are selected ({compared.narrowed[change.name]})"
            )
        elif change.name not in known:
            notes.append(f"{change.name} ({change.kind}) would be BLOCKED: {_no_cases(change, reference).reason}")
        if lost := compared.lost.get(change.was):
            notes.append(f"{change.name} would be BLOCKED: the change takes away {', '.join(lost[:5])}")
    if not changed:
        notes.append("no skill changed: the gate would pass")
    return trial_plan_lines(compared.planned, notes)


def _store(config: pytest.Config) -> Any:
    from ..wiring import open_store

    return open_store(config)


def _skills(folder: Path, only: str | None) -> dict[str, Skill]:
    try:
        found = skills_in(folder)
    except SkillError as error:
        raise ConfigError(str(error)) from None
    return found if only is None else {name: skill for name, skill in found.items() if name == only}


def _lost(then: Sequence[CaseMark], now: Sequence[CaseMark], changed: Sequence[Change]) -> dict[str, list[str]]:
    """What the change takes away from the skills that it changes; cases go with a skill that is deleted."""
    renamed = {change.was: change.name for change in changed if change.kind == "renamed"}
    judging = {change.was for change in changed if change.kind != "deleted"}
    return {skill: lost for skill, lost in lost_cases(then, now, renamed).items() if skill in judging}


def _together(found: Sequence[Judged]) -> dict[str, Decision]:
    """The decisions on all skills, Holm over them. The reference's rules hold; the first session brings them."""
    if not found:
        return {}
    runs: dict[str, tuple[Sequence[PairedCase], Any]] = {one.name: (one.pairs, one.reruns) for one in found}
    return {name: one.decision for name, one in confirm_together(runs, Rules(**found[0].rules)).items()}


def _no_cases(change: Change, reference: Reference) -> Decision:
    where = "the reference has" if reference.tree is not None and change.kind != "added" else "there is"
    reason = f"{where} no holdout case of it, so nothing was shown; merge cases first, then the change"
    return Decision(Verdict.BLOCKED, "no-cases", reason)


def _refused(config: pytest.Config, change: Change) -> str:
    """Why the Spec or the Safety gate refuses the new version, when it did not refuse the old one as well."""
    from ..gating import gates_of
    from ..stages.candidate import refusal

    if not change.after.exists:
        return ""
    gates = gates_of(config)[0]
    reason = refusal(change.after, change.before, "merge gate", gates)
    old = reason and change.before.exists and refusal(change.before, change.before, "merge gate", gates)
    return reason if reason and not old else ""


def _with_decision(report: dict[str, Any], decision: Decision, notes: Sequence[str]) -> dict[str, Any]:
    return {**report, "decision": {**decision.to_json(), "notes": list(notes)}}
