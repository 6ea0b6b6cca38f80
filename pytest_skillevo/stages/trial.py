"""Two given versions of a skill on the holdout, without a search: what a merge gate and an A/A run are made of.

The journal holds every run: a gate that was interrupted goes on, and a repetition with the same skills, cases, settings
and seeds shows the same figures and runs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from ..core.canonical import digest_json
from ..core.errors import ConfigError
from ..core.gates.redaction import redacted
from ..core.records import ROLES
from ..core.skill import Skill
from ..core.verdict import Confirmation, confirm
from ..store import Store
from . import report_data
from .caps import deciding, stopping
from .confirmation import Measured, measure
from .experiment import Setting
from .packing import CASES
from .progress import Progress
from .recorder import Executor, Recorder
from .settings import RERUN_REPEATS

#: What a report of the figures alone must say, wherever it is shown without the gate's own answer.
_NOTES: Final = {
    "gate": ("these are the figures alone; what else the gate looked at stands in its own report and evidence",)
}


@dataclass(frozen=True, slots=True)
class Trial:
    """The seed skill of `setting` against `after`. `apart` gives the arms different seeds; `kind` is gate or aa.

    `roles` are those that the cases fill with our models; a suite that brings its own agent fills none.
    """

    setting: Setting
    after: Skill
    kind: str
    roles: tuple[str, ...] = ("agent",)
    apart: bool = False

    def model_part(self) -> dict[str, Any]:
        """The models of the roles in use, for the report."""
        used = {role: self.setting.models[role] for role in self.roles}
        leading = next(iter(used.values()), None)
        return {
            "name": "the suite's own agent" if leading is None else leading.name,
            "kind": "own" if leading is None else leading.kind,
            "roles": {role: used[role].name if role in used else None for role in ROLES},
            "live": [facts for facts in self.setting.live if facts["name"] in {model.name for model in used.values()}],
        }

    @property
    def fingerprint(self) -> str:
        """Digest of all that decides the figures."""
        settings = deciding(self.setting.settings)
        return digest_json({**self.setting.identity, "settings": settings, "after": self.after.digest, "of": self.kind})

    @property
    def budget(self) -> int:
        """Rollouts at the most."""
        return 2 * len(self.setting.dataset.ids("holdout")) * self.setting.settings.repeats + self.reruns

    @property
    def reruns(self) -> int:
        """Rollouts of critical reruns at the most."""
        return 2 * len(self.setting.dataset.critical) * RERUN_REPEATS


@dataclass(frozen=True, slots=True)
class Tried:
    """The paired runs of a trial, what they decide alone, and how often these cases were opened before."""

    id: str
    fingerprint: str
    measured: Measured
    confirmation: Confirmation
    report: dict[str, Any]
    openings: int


def run_trial(trial: Trial, store: Store, executor: Executor, progress: Progress) -> Tried:
    """Run both arms on the holdout and decide.

    Raises ConfigError when the suite changes meanwhile, and ExperimentInterrupted when a cap is reached.
    """
    setting, fingerprint = trial.setting, trial.fingerprint
    setting.dataset.require(("holdout",))
    if setting.settings.transfer is not None:
        raise ConfigError("--evolve-transfer belongs to a search (--evolve): leave it out here")
    evaluator, started = setting.evaluator(), setting.now()
    name = f"ex-{trial.kind}-{fingerprint[:12]}"
    known = next((one for one in store.experiments(setting.folder) if one.id == name), None)
    if known is None:
        about = {**setting.settings.to_json(), "identity": setting.identity, "kind": trial.kind}
        store.create_experiment(name, setting.folder, fingerprint, about)
    recorder = Recorder(store, name, executor, setting.redact, trial.budget, caps=setting.settings.caps)
    recorder.event(CASES, CASES, lambda: setting.dataset.listed(setting.redact))
    with stopping():
        measured = measure(
            setting.dataset,
            ("holdout",),
            setting.seed_skill,
            trial.after,
            setting.settings,
            recorder,
            progress,
            apart=trial.apart,
        )
    if setting.evaluator() != evaluator:
        raise ConfigError("a file that decides scores, or the skill on disk, changed while the cases ran; start again")
    keys = setting.dataset.ledger_keys
    openings = store.openings(keys, besides=name).count
    if trial.kind == "gate":  # an A/A decides nothing and shows no case
        store.record_opening(keys, name, setting.folder, "merge gate")
    decided = confirm(measured.holdout, measured.reruns, setting.settings.rules)
    report = redacted(_report(trial, name, fingerprint, started, measured, decided, recorder), setting.redact)
    if known is None or known.finished_at is None:
        store.finish_experiment(name, report["decision"], report)
    return Tried(name, fingerprint, measured, decided, report, openings)


def _report(
    trial: Trial,
    name: str,
    fingerprint: str,
    started: Any,
    measured: Measured,
    decided: Confirmation,
    recorder: Recorder,
) -> dict[str, Any]:
    setting = trial.setting
    confirmed = measured.confirmed(decided, setting.settings.rules)
    left_out = {case: recorder.skipped[case] for case in measured.left_out}
    return {
        "schema_version": report_data.SCHEMA_VERSION,
        "experiment": {**setting.about(name, fingerprint, started), "stages": ["confirm"]},
        "model": trial.model_part(),
        "skill": report_data.skill_part(setting.seed_skill, trial.after),
        "dataset": report_data.dataset_part(setting.dataset, left_out),
        "search": None,
        "confirmation": report_data.confirmation_part(confirmed, setting.dataset, setting.settings),
        "replay": None,
        "decision": report_data.decision_part(decided.decision, _NOTES.get(trial.kind, ())),
        "usage": report_data.usage_part(recorder.usage),
        "rollouts": report_data.rollouts_part(recorder, trial.budget),
        "revision": None,
        "warnings": [*trial.after.warnings],
    }
