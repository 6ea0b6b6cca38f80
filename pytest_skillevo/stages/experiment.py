"""One experiment from seed skill to verdict: search, frozen confirmation, operational replay, record.

Data flows one way: ask, run, tell, decide, report. The seed skill on disk is never touched; an accepted version enters
the store and waits for a person.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..core.canonical import digest_json
from ..core.errors import CapReached, ConfigError, ExperimentInterrupted
from ..core.gates.records import Gates
from ..core.gates.redaction import redacted
from ..core.gepa import Engine, SearchDataset, SearchResult, StopReason, Strategy, check_frozen
from ..core.judging import standard_gates
from ..core.protocols import ChatModel
from ..core.records import ROLES
from ..core.revisions import Action, Status
from ..core.skill import Skill
from ..core.verdict import Decision, Verdict, cap, lower_by_replay
from ..store import Store
from ..store.bundles import versions_json
from . import report_data
from .cache import SearchCache
from .candidate import completed, refusal
from .confirmation import Confirmed, reference_note, run_confirmation
from .dataset import Dataset, holdout_seal
from .events import ExperimentEvent, Observe, nobody
from .packing import CASES
from .plan import make_plan, search_settings
from .progress import Progress
from .recorder import Executor, Recorder
from .replay import Replayed, run_replay
from .search import Proposer, Search, TimeLimit, best_so_far
from .settings import Settings
from .transfer import run_transfer, transfer_sentence

#: Stop reasons after which no result stands: the run is resumable instead.
UNFINISHED = (StopReason.PROVIDER_ERROR, StopReason.EVALUATOR_ERROR)


@dataclass(frozen=True, slots=True)
class Setting:
    """Where an experiment runs: everything that comes from outside."""

    dataset: Dataset
    seed_skill: Skill
    #: Name of the skill's folder.
    folder: str
    settings: Settings
    models: Mapping[str, ChatModel]
    #: Digest of every file that decides scores and of the skill on disk, made anew at each call.
    evaluator: Callable[[], str]
    versions: Mapping[str, str]
    command: str
    redact: Callable[[str], str]
    #: UTC now, for the record only.
    now: Callable[[], datetime]
    #: Seconds, monotonic, for the time limit only.
    clock: Callable[[], float]
    actor: str
    #: The policies of the search.
    strategy: Strategy = field(default_factory=Strategy)
    #: Who proposes in the place of the reflection model.
    proposer: Proposer | None = None
    #: Name, price and endpoint of every real model (chatmodels.live_facts).
    live: Sequence[Mapping[str, Any]] = ()
    #: What else decides an answer of the search, for the keys of its cache: agent and limits, other skills on offer.
    conditions: Mapping[str, Any] = field(default_factory=dict)
    #: Is told what happens.
    observe: Observe = nobody
    #: Whether somebody has asked the experiment of this id to stop since the last call.
    asked_to_stop: Callable[[str], bool] = lambda experiment: False
    #: The gates that a candidate must pass before the holdout is opened, and that judge the revision.
    gates: Gates = field(default_factory=standard_gates)

    def require(self) -> None:
        """Raise ConfigError when the cases or the budget cannot serve the stages."""
        confirms = "confirm" in self.settings.stages and self.dataset.partial is None
        self.dataset.require(("feedback", "validation", "holdout") if confirms else ("feedback", "validation"))
        search_settings(self.settings, make_plan(self.dataset, self.settings))
        check_frozen(self.seed_skill, self.settings.frozen)

    def about(self, id: str, fingerprint: str, started: datetime) -> dict[str, Any]:
        """What was run, and how, for the report."""
        settings = self.settings
        return {
            "id": id,
            "fingerprint": fingerprint,
            "seed": settings.seed,
            "started": _utc(started),
            "finished": _utc(self.now()),
            "versions": dict(self.versions),
            "command": self.command,
            "stages": list(settings.stages),
            "recorded": False,
            "goal": settings.goal,
            "margin": settings.margin,
            "alpha": settings.alpha,
            "repeats": settings.repeats,
            "critical_rule": settings.critical,
            "partial": self.dataset.partial,
        }

    def model_part(self) -> dict[str, Any]:
        """The models by role, for the report."""
        return {
            "name": self.models["agent"].name,
            "kind": self.models["agent"].kind,
            "roles": {role: self.models[role].name for role in ROLES},
            "live": list(self.live),
        }

    @property
    def identity(self) -> dict[str, Any]:
        """What an experiment is about, apart from its settings, by name."""
        return {
            "seed skill": digest_json([self.folder, self.seed_skill.digest]),
            "dataset version": self.dataset.fingerprint,
            "selection": self.dataset.partial or "whole",
            "evaluator version": self.evaluator(),
            "models": {role: model.name for role, model in self.models.items()},
            "versions": dict(self.versions),
            "gates": self.gates.version,
            **({"endpoint and price table": digest_json(list(self.live))} if self.live else {}),
        }

    @property
    def fingerprint(self) -> str:
        """Digest of all that decides the result: equal for a repetition."""
        return digest_json({**self.identity, "settings": self.settings.to_json()})


@dataclass(slots=True)
class _Findings:
    """What the stages have found so far."""

    search: SearchResult
    candidate: Skill
    confirmed: Confirmed | None = None
    replayed: Replayed | None = None
    replay_status: Any = None
    decision: Decision | None = None
    notes: list[str] = field(default_factory=list)


class Experiment:
    """Runs one experiment, or goes on with the one of that id, which must be in the store."""

    def __init__(self, setting: Setting, store: Store, executor: Executor, progress: Progress, id: str) -> None:
        self._setting = setting
        self._store = store
        self._executor = executor
        self._progress = progress
        self._id = id
        self._plan = make_plan(setting.dataset, setting.settings)
        self._evaluator = setting.evaluator()
        self._fingerprint = setting.fingerprint
        self._started = setting.now()

    def run(self) -> dict[str, Any]:
        """The report (schema version 1). Raises ConfigError, or ExperimentInterrupted when it can go on."""
        setting = self._setting
        settings = setting.settings
        recorder = Recorder(
            self._store, self._id, self._executor, setting.redact, settings.rollouts, self._cache(), settings.caps
        )
        setting.asked_to_stop(self._id)  # what an earlier run left is not for this one
        recorder.event(CASES, CASES, lambda: setting.dataset.listed(recorder.redact))
        self._prior = recorder.event("openings", "openings", self._openings)["before"]
        findings = self._search(recorder)
        if recorder.cached:
            findings.notes.append(
                f"{recorder.cached} answers of the search came from earlier searches and were not paid for again"
            )
        self._check_evaluator()
        self._decide(findings, recorder)
        recorder.flush()
        report = self._report(findings, recorder)
        self._store.finish_experiment(self._id, report["decision"], report)
        self._tell("decided", {name: report["decision"][name] for name in ("verdict", "rule", "reason")})
        return report

    def _tell(self, kind: str, data: Mapping[str, Any], replayed: bool = False) -> None:
        self._setting.observe(ExperimentEvent(kind, self._id, data, replayed))

    def _cache(self) -> SearchCache | None:
        setting = self._setting
        if not setting.settings.cache:
            return None
        facts = {
            "evaluator": self._evaluator,
            "models": {role: setting.models[role].name for role in ("agent", "judge") if role in setting.models},
            "versions": dict(setting.versions),
            "conditions": {**setting.conditions, "live": list(setting.live)},
        }
        return SearchCache(self._store.answers, facts, {case.id: case.content for case in setting.dataset.cases})

    def _openings(self) -> dict[str, Any]:
        opened = self._store.openings(self._fingerprints(), besides=self._id)
        return {"before": opened.count, "first": opened.first}

    def _fingerprints(self) -> list[str]:
        return self._setting.dataset.ledger_keys

    def _search(self, recorder: Recorder) -> _Findings:
        setting, settings = self._setting, self._setting.settings
        dataset = setting.dataset
        seal = holdout_seal(dataset, setting.seed_skill)
        engine = Engine(
            setting.seed_skill,
            SearchDataset(dataset.ids("feedback"), dataset.ids("validation")),
            search_settings(settings, self._plan),
            strategy=setting.strategy,
            redact=setting.redact,
            leak_check=seal.leak,
            watched={case.id: case.watched for case in dataset.cases if case.split != "holdout"},
        )
        author = setting.proposer or setting.models["reflection"]
        limit = TimeLimit(settings.max_seconds, setting.clock)
        search = Search(
            engine, author, recorder, self._progress, limit, self._tell, lambda: setting.asked_to_stop(self._id)
        )
        result = search.run(settings.iterations, self._plan.search)
        if not result.pool and result.stop_reason in (StopReason.TOKEN_BUDGET, StopReason.USD_BUDGET):
            raise ConfigError(f"the search stopped before the seed skill was validated: {result.stop_detail}")
        if result.stop_reason is StopReason.STOP_REQUESTED:
            best = best_so_far(result)
            raise ExperimentInterrupted(
                f"stopped as asked; nothing is lost: go on with --evolve-resume={self._id}"
                + (f"; {best}" if best else "")
            )
        if result.stop_reason in UNFINISHED or not result.pool:
            detail = f": {result.stop_detail}" if result.stop_detail else ""
            raise ExperimentInterrupted(
                f"the search stopped ({result.stop_reason}){detail}; nothing is decided. "
                f"Mend the cause and go on with --evolve-resume={self._id} "
                "(after a change of a test, conftest or family file start again: old scores could not be compared)"
            )
        return _Findings(result, completed(engine.skill(result.winner), setting.seed_skill))

    def _decide(self, findings: _Findings, recorder: Recorder) -> None:
        setting, settings = self._setting, self._setting.settings
        dataset = setting.dataset
        tried = findings.search.iterations
        if findings.candidate.digest == setting.seed_skill.digest:
            reason = f"none of {tried} proposals beat the seed skill on validation"
            if settings.method in ("seed", "no-skill"):
                reason = f"this baseline only measures: {findings.search.events[-1].verdict}"
            findings.decision = Decision(Verdict.NO_CHANGE, "no-accepted-candidate", reason)
            return
        refused = refusal(findings.candidate, setting.seed_skill, f"experiment:{self._id}", setting.gates)
        if refused is not None:
            reason = f"the candidate won the search and could not be published: {refused}"
            findings.decision = Decision(Verdict.REJECT, "gate-refused", reason)
            return
        if dataset.partial is not None:
            reason = f"the dataset is partial ({dataset.partial}), so the holdout was not opened"
            findings.decision = Decision(Verdict.INCONCLUSIVE, "partial-dataset", reason)
            return
        if "confirm" not in settings.stages:
            reason = "the candidate won the search, and a search score proves nothing: run the confirmation as well"
            findings.decision = Decision(Verdict.INCONCLUSIVE, "not-confirmed", reason)
            return
        self._check_evaluator()
        self._tell("confirmation_begun", {"candidate": findings.candidate.digest})
        try:
            confirmed = run_confirmation(
                dataset, setting.seed_skill, findings.candidate, settings, recorder, self._progress
            )
        except CapReached as reached:
            # Nothing was decided on the holdout and nobody saw it: this is no opening.
            findings.decision = _capped(
                reached, "the confirmation", "what the search has answered is not paid for again"
            )
            return
        findings.confirmed = confirmed
        decision = confirmed.holdout.decision
        if decision.verdict is Verdict.INCONCLUSIVE:
            findings.notes += reference_note(confirmed, dataset)
        if self._prior:
            reason = (
                f"the holdout was opened before this search began ({self._prior}x), "
                "so a gain on it proves nothing new; add fresh holdout cases"
            )
            decision = cap(decision, "holdout-exposed", reason)
        if "replay" in settings.stages and decision.verdict in (Verdict.ACCEPT, Verdict.INCONCLUSIVE):
            try:
                decision = self._replay(findings, decision, recorder)
            except CapReached as reached:
                decision = _capped(
                    reached, "the replay", "the holdout is open now, so a new run needs fresh holdout cases"
                )
        if settings.transfer is not None and decision.verdict in (Verdict.ACCEPT, Verdict.INCONCLUSIVE):
            findings.notes.append(self._transfer(findings, recorder, settings.transfer))
        findings.decision = decision
        self._check_evaluator()
        self._store.record_opening(self._fingerprints(), self._id, setting.folder, "decided on")

    def _replay(self, findings: _Findings, decision: Decision, recorder: Recorder) -> Decision:
        setting = self._setting
        assert findings.confirmed is not None
        self._tell("replay_begun", {"candidate": findings.candidate.digest})
        findings.replayed = run_replay(
            setting.dataset,
            setting.seed_skill,
            findings.candidate,
            setting.settings.seed,
            setting.models["reviewer"],
            recorder,
            self._progress,
            findings.confirmed.left_out,
        )
        lowered, findings.replay_status = lower_by_replay(decision, findings.replayed.evidence, setting.settings.rules)
        return lowered

    def _transfer(self, findings: _Findings, recorder: Recorder, model: str) -> str:
        setting = self._setting
        assert findings.confirmed is not None
        self._tell("transfer_begun", {"candidate": findings.candidate.digest, "model": model})
        try:
            found = run_transfer(
                setting.dataset, setting.seed_skill, findings.candidate, setting.settings, recorder, self._progress
            )
        except CapReached as reached:
            return f"the transfer check with {model} could not be finished: {reached}"
        return transfer_sentence(found, model)

    def _check_evaluator(self) -> None:
        """Frozen means frozen: a changed test, conftest or family file makes before and after incomparable."""
        if self._setting.evaluator() != self._evaluator:
            raise ConfigError(
                "a test module, conftest, family or evaluator file, or the skill on disk, changed while the experiment "
                "ran; its scores cannot be compared, start again"
            )

    def _report(self, findings: _Findings, recorder: Recorder) -> dict[str, Any]:
        setting, settings = self._setting, self._setting.settings
        assert findings.decision is not None
        decision, confirmed, replayed = findings.decision, findings.confirmed, findings.replayed
        left_out = [*findings.search.left_out, *(confirmed.left_out if confirmed else ())]
        report = {
            "schema_version": report_data.SCHEMA_VERSION,
            "experiment": setting.about(self._id, self._fingerprint, self._started),
            "model": setting.model_part(),
            "skill": report_data.skill_part(setting.seed_skill, findings.candidate),
            "dataset": report_data.dataset_part(setting.dataset, {case: recorder.skipped[case] for case in left_out}),
            "search": report_data.search_part(findings.search),
            "confirmation": confirmed and report_data.confirmation_part(confirmed, setting.dataset, settings),
            "replay": replayed and report_data.replay_part(replayed, findings.replay_status, settings.rules),
            "decision": report_data.decision_part(decision, findings.notes),
            "usage": report_data.usage_part(recorder.usage),
            "rollouts": report_data.rollouts_part(recorder, settings.rollouts),
            "revision": None,
            "warnings": [*setting.seed_skill.warnings],
        }
        # Command line, case ids and skill texts go into the store as well: no secret may come along.
        kept: dict[str, Any] = redacted(report, setting.redact)
        entered = self._enter(findings, kept)
        if entered is not None:
            kept["revision"], kept["skill"]["versions"] = entered
        return kept

    def _enter(
        self, findings: _Findings, report: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, Any] | None] | None:
        """The revision and the files of both its versions, so that `skillevo revisions import` can carry it elsewhere.

        ACCEPT waits for approval, INCONCLUSIVE for more evidence; the others leave no revision (design).
        """
        assert findings.decision is not None
        statuses = {Verdict.ACCEPT: Status.PENDING_APPROVAL, Verdict.INCONCLUSIVE: Status.PENDING_EVAL}
        status = statuses.get(findings.decision.verdict)
        if status is None:
            return None
        setting = self._setting
        revision = self._store.add_revision(
            setting.folder,
            findings.candidate,
            setting.seed_skill,
            action=Action.UPDATE if setting.seed_skill.exists else Action.CREATE,
            source=f"experiment:{self._id}",
            status=status,
            evidence={key: report[key] for key in ("experiment", "model", "dataset", "confirmation", "decision")},
            actor=setting.actor,
            reason=findings.decision.reason,
        )
        return {"id": revision.id, "status": revision.status.value}, versions_json(
            self._store, revision, setting.redact
        )


def _capped(reached: CapReached, what: str, further: str) -> Decision:
    """Half of a comparison says nothing, and going on with a higher cap would be another experiment."""
    reason = f"{what} could not be finished: {reached}; {further}"
    return Decision(Verdict.BLOCKED, reached.reason.replace("_", "-"), reason)


def recorded_report(store: Store, fingerprint: str) -> dict[str, Any] | None:
    """The report of an identical experiment that is already finished, marked as recorded; None if there is none."""
    found = store.find_finished(fingerprint)
    if found is None:
        return None
    report: dict[str, Any] = found.report
    return {**report, "experiment": {**report["experiment"], "recorded": True}}


def _utc(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
