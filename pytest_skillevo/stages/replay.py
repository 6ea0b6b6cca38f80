"""Operational replay: sequential tasks with shared skill state and the Reviewer on, in three groups.

`baseline` has no skill and no Reviewer, `evolution` starts from the seed skill, `optimized` from the candidate. The
groups of a round run the same tasks with the same seeds; which group goes first rotates (spec/suites.md 2.8, 3.11).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..core.draws import draw_bits, seed_of, shuffled
from ..core.protocols import ChatModel
from ..core.records import NO_USAGE, Case, Evaluation, RolloutRequest, Usage
from ..core.review.applying import Shelf, changes
from ..core.review.decision import SCHEMA, Rejection, ReviewDecision
from ..core.review.parsing import parse
from ..core.review.prompt import ReviewInput, ShownSkill, build_prompt
from ..core.review.reconcile import Known, reconcile
from ..core.revisions import Action
from ..core.sessions import TaskOutcome
from ..core.skill import Skill
from ..core.verdict import ReplayEvidence, ReplayPair
from .dataset import Dataset
from .plan import replay_tasks
from .progress import Progress
from .recorder import Recorder
from .settings import REPLAY_GROUPS, REPLAY_SEEDS

#: Easy levels come first; what the Reviewer learns there serves the later ones (spec/suites.md 3.11).
LADDER = ("e1", "e2", "e3", "m1", "m2", "h1")


@dataclass(slots=True)
class GroupTotals:
    """What one group did over all rounds. Token sums are None as soon as one part is unknown."""

    tasks: int = 0
    scores: list[float] = field(default_factory=list)
    passed: int = 0
    agent: Usage = NO_USAGE
    reviewer: Usage = NO_USAGE
    updates: int = 0
    loads: int = 0


@dataclass(frozen=True, slots=True)
class TaskRun:
    """One task of one group: its score (None: did not run) and tokens (None: unmeasured).

    `loaded` says whether the agent loaded a skill, `updated` whether the Reviewer changed the skill after it.
    """

    score: float | None
    tokens: int | None
    reviewer_tokens: int | None = None
    passed: bool | None = None
    objectives: Mapping[str, float] = field(default_factory=dict)
    loaded: bool = False
    updated: bool = False


@dataclass(frozen=True, slots=True)
class Replayed:
    """The replay's evidence and the totals by group."""

    evidence: ReplayEvidence
    groups: dict[str, GroupTotals]
    root_seeds: tuple[int, ...]
    tasks_per_round: int


def run_replay(
    dataset: Dataset,
    before: Skill,
    after: Skill,
    seed: int,
    reviewer_model: ChatModel,
    recorder: Recorder,
    progress: Progress,
    left_out: Sequence[str] = (),
) -> Replayed:
    """Run all rounds. `left_out` are cases that skip themselves and so cannot be replayed."""
    cases = [case for case in dataset.cases if case.split == "holdout" and case.id not in set(left_out)]
    per_round = min(replay_tasks(dataset), len(cases))
    root_seeds = tuple(draw_bits(seed, "replay", number) % 1_000_000 for number in range(REPLAY_SEEDS))
    progress.stage("replay", total=len(REPLAY_GROUPS) * REPLAY_SEEDS * per_round)
    starts = {"baseline": Skill.absent(before.name), "evolution": before, "optimized": after}
    runner = GroupRunner("replay", REPLAY_GROUPS, reviewer_model, recorder, progress)
    pairs: list[ReplayPair] = []
    for number, root_seed in enumerate(root_seeds):
        tasks = sample_tasks(cases, per_round, root_seed)
        runs: dict[str, list[TaskRun]] = {}
        for place in range(len(REPLAY_GROUPS)):
            group = REPLAY_GROUPS[(number + place) % len(REPLAY_GROUPS)]
            progress.round(number + 1, REPLAY_SEEDS, group=group, root_seed=root_seed)
            runs[group] = runner.run(number, group, starts[group], tasks, root_seed)
        pairs += [
            ReplayPair(
                root_seed,
                case.id,
                case.family or "",
                old.score,
                new.score,
                old.tokens,
                new.tokens,
            )
            for case, old, new in zip(tasks, runs["evolution"], runs["optimized"], strict=True)
        ]
    evidence = ReplayEvidence(tuple(pairs), planned=REPLAY_SEEDS * per_round)
    return Replayed(evidence, runner.totals, root_seeds, per_round)


def sample_tasks(cases: Sequence[Case], count: int, root_seed: int) -> list[Case]:
    """The tasks of one round: drawn by the root seed, spread over the levels, easy levels first."""
    by_level: dict[str, list[Case]] = {}
    for case in cases:
        by_level.setdefault(case.level or "", []).append(case)
    queues = [
        shuffled(sorted(group, key=_by_id), root_seed, "replay-tasks", level)
        for level, group in sorted(by_level.items())
    ]
    chosen: list[Case] = []
    while len(chosen) < count:
        for queue in queues:
            if queue and len(chosen) < count:
                chosen.append(queue.pop(0))
    return sorted(chosen, key=lambda case: (_rung(case), case.id))


def _by_id(case: Case) -> str:
    return case.id


def _rung(case: Case) -> tuple[int, str]:
    level = case.level or ""
    return (LADDER.index(level) if level in LADDER else len(LADDER)), level


class GroupRunner:
    """Runs tasks one after another with shared skill state. All groups but `baseline` have the Reviewer."""

    def __init__(
        self, stage: str, groups: Sequence[str], model: ChatModel, recorder: Recorder, progress: Progress
    ) -> None:
        self._stage = stage
        self._model = model
        self._recorder = recorder
        self._progress = progress
        self._done = 0
        self.totals = {group: GroupTotals() for group in groups}

    def run(self, number: int, group: str, skill: Skill, tasks: Sequence[Case], root_seed: int) -> list[TaskRun]:
        """All tasks of one group in one round; what the Reviewer learns from one task serves the next."""
        runs = []
        for place, case in enumerate(tasks):
            key = f"{self._stage}/{number}/{group}/{place:03d}"
            seed = seed_of(root_seed, "task", case.id)
            request = RolloutRequest(key, case.id, skill.digest, seed, 0, "replay")
            (outcome,) = self._recorder.run([(request, skill)])
            self._done += 1
            self._progress.rollouts(self._done, tokens=self._recorder.tokens)
            totals = self.totals[group]
            totals.tasks += 1
            if outcome.evaluation is None:
                runs.append(TaskRun(None, None))
                continue
            evaluation = outcome.evaluation
            used = evaluation.usage.get("agent", Usage())
            _count(totals, evaluation, used)
            reviewed, updates = NO_USAGE, totals.updates
            if group != "baseline":
                skill, reviewed = self._review(key, skill, evaluation, seed, totals)
                totals.reviewer = totals.reviewer + reviewed
            runs.append(
                TaskRun(
                    evaluation.score,
                    (used + reviewed).tokens,
                    reviewed.tokens,
                    evaluation.passed,
                    evaluation.objectives,
                    bool(skills_loaded(evaluation)),
                    totals.updates > updates,
                )
            )
        return runs

    def _review(
        self, key: str, skill: Skill, evaluation: Evaluation, seed: int, totals: GroupTotals
    ) -> tuple[Skill, Usage]:
        loaded = set(skills_loaded(evaluation))
        shown = [ShownSkill.of(skill, loaded=skill.name in loaded)] if skill.exists else []
        given = ReviewInput(conversation(evaluation), TaskOutcome.of(evaluation), shown, session=key)
        prompt = build_prompt(given, redact=self._recorder.redact)
        reply = self._recorder.chat(
            f"{key}/review", "reviewer", self._model, prompt.messages, seed=seed, response_schema=SCHEMA
        )
        revised = _revised(parse(reply.text, reply.finish_reason), skill, prompt.shown)
        if revised is not None:
            totals.updates += 1
            skill = revised
        return skill, reply.usage


def _revised(decision: ReviewDecision | Rejection, skill: Skill, shown: Mapping[str, str]) -> Skill | None:
    """The skill after a decision; None when it stays. A new skill counts only where there was none yet."""
    if isinstance(decision, Rejection):
        return None
    wanted = Action.UPDATE if skill.exists else Action.CREATE
    known = [Known(skill.name, "\n".join(skill.components.values()))] if skill.exists else []
    made, _ = changes(reconcile(decision, known)[0], Shelf([skill], shown))
    return next((change.after for change in made if change.action is wanted), None)


def _count(totals: GroupTotals, evaluation: Evaluation, used: Usage) -> None:
    totals.scores.append(evaluation.score)
    totals.passed += evaluation.passed is True
    totals.agent = totals.agent + used
    totals.loads += bool(skills_loaded(evaluation))


def skills_loaded(evaluation: Evaluation) -> list[str]:
    """Names of the skills that the agent loaded in one rollout."""
    loaded = (session.get("skills_loaded") for session in _sessions(evaluation))
    return [str(name) for names in loaded if isinstance(names, list) for name in names]


def _sessions(evaluation: Evaluation) -> list[dict[str, object]]:
    trace = evaluation.trace
    sessions = trace.get("sessions") if isinstance(trace, dict) else None
    return [session for session in sessions or [] if isinstance(session, dict)]


def conversation(evaluation: Evaluation) -> list[dict[str, object]]:
    """The messages of the agent's conversations in one rollout, in order."""
    found: list[dict[str, object]] = []
    for session in _sessions(evaluation):
        messages = session.get("messages")
        found += [message for message in messages if isinstance(message, dict)] if isinstance(messages, list) else []
    return found
