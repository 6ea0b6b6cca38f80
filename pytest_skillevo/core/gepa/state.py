"""What a running search knows, and the steps that all its parts share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from ..draws import draw_int
from ..errors import ConfigError
from ..records import Evaluation, Outcome, RolloutRequest, Usage
from ..skill import Skill
from .budget import Budget, iteration_rollouts
from .draft import Draft
from .merge import Merger
from .pool import Memory, Pool, mean
from .prompt import Attempt, Brief
from .reflection import SEEDS, Reflector
from .requests import PHASES, RolloutAnswer, Step, rollout_id
from .results import EventKind, SearchEvent, StopReason
from .sampling import History
from .settings import HIGHER, SearchDataset, SearchSettings
from .steps import Steps, Stop
from .strategy import Strategy


class State:
    """The books of one search; only the engine's steps write into them."""

    def __init__(
        self,
        seed: Skill,
        dataset: SearchDataset,
        settings: SearchSettings,
        strategy: Strategy,
        reflector: Reflector,
        redact: Callable[[str], str],
    ) -> None:
        self.seed = seed
        self.dataset = dataset
        self.settings = settings
        self.strategy = strategy
        self.reflector = reflector
        self.redact = redact
        self.budget = Budget(dataset, settings)
        self.memory = Memory(settings.rejected_shown)
        self.merger = Merger(settings.merges)
        self.history = History()
        self.skills = {seed.digest: seed}
        #: Briefs of the reflections in flight, by request id.
        self.briefs: dict[str, Brief] = {}
        self.feedback = dataset.feedback
        self.pool: Pool | None = None
        self.left_out: list[str] = []
        self.events: list[SearchEvent] = []
        #: Iterations that were started, and the one that last gave a better best mean.
        self.iteration = 0
        self.improved = 0
        #: Children of the running round by digest, so that twins are evaluated once.
        self.siblings: set[str] = set()
        self._drafts: dict[int, Draft] = {}
        self._scored: set[str] = set()
        self._places = {case: i for split in (dataset.feedback, dataset.validation) for i, case in enumerate(split)}

    # Events.

    def begin(self) -> Draft:
        """Begin the next iteration with its event."""
        self.iteration += 1
        return self.open(self.iteration)

    def open(self, iteration: int) -> Draft:
        """Begin the event of an iteration."""
        draft = self._drafts[iteration] = Draft(iteration)
        return draft

    def close(self, draft: Draft, kind: EventKind, verdict: str) -> None:
        """End the iteration with its event."""
        self.events.append(draft.event(kind, verdict, self.budget.rollouts))
        del self._drafts[draft.iteration]

    def cut(self, verdict: str) -> None:
        """End what is still open, in order."""
        for draft in [self._drafts[iteration] for iteration in sorted(self._drafts)]:
            self.close(draft, EventKind.ITERATION_CUT, verdict)

    def reject(self, draft: Draft, kind: EventKind, reason: str, details: str = "") -> None:
        """Close the iteration without a new candidate. The model is told the reason, but not the details."""
        if draft.parent is not None:
            attempt = Attempt(draft.component or "", draft.text or "", reason)
            self.memory.keep(draft.parent, attempt)
        self.close(draft, kind, reason + details)

    # Rollouts.

    def evaluate(self, draft: Draft, skill: Skill, cases: Sequence[str], step: Step) -> Steps[dict[str, Outcome]]:
        """The outcomes by case, in the given order; skipped cases are left out of the search from now on."""
        phase = PHASES[step]
        # One seed for all validations of a run and one for both arms of a minibatch: pairs differ in the skill only.
        key = (0, "search-validation") if phase == "validation" else (draft.iteration, "search-minibatch")
        seed = draw_int(SEEDS, self.settings.seed, *key)
        start = rollout_id(draft.iteration, step)
        ids = {case: f"{start}{self._places[case]}" for case in cases}
        self.budget.reserve(len(ids))
        digest = skill.digest
        answers = yield tuple([RolloutRequest(id, case, digest, seed, 0, phase) for case, id in ids.items()])
        outcomes = {case: cast(RolloutAnswer, answers[id]).outcome for case, id in ids.items()}
        self.budget.settle(outcomes.values())
        draft.spent += len(cases)
        unscored = [case for case, outcome in outcomes.items() if outcome.evaluation is None]
        self._leave_out(draft, [case for case in unscored if outcomes[case].status == "skipped"], outcomes)
        self._scored.update(outcomes.keys() - unscored if unscored else outcomes)
        return outcomes

    def _leave_out(self, draft: Draft, skipped: Sequence[str], outcomes: Mapping[str, Outcome]) -> None:
        for case in skipped:
            if case in self._scored:
                raise ConfigError(
                    f"case '{case}' was skipped for one skill and scored for another ({outcomes[case].reason}): "
                    "a skip must not depend on the skill, because the two could not be compared"
                )
        fresh = tuple(case for case in skipped if case not in self.left_out)
        if not fresh:
            return
        self.left_out += fresh
        draft.left_out += fresh
        self.feedback = tuple(case for case in self.feedback if case not in fresh)
        if not self.feedback:
            raise ConfigError(f"every feedback case was skipped: {named(self.dataset.feedback)}")

    def require_answers(self, outcomes: Mapping[str, Outcome], what: str) -> None:
        """A parent that cannot be evaluated says nothing about any candidate: the run stops and can be resumed."""
        for case, outcome in outcomes.items():
            if outcome.status == "errored":
                raise Stop(StopReason.EVALUATOR_ERROR, self.redact(f"{what}: case '{case}': {outcome.reason}"))

    def child_failed(self, draft: Draft, outcomes: Mapping[str, Outcome]) -> bool:
        """The parent could be evaluated and the child could not: the child is to blame."""
        errors = [(case, outcome.reason) for case, outcome in outcomes.items() if outcome.status == "errored"]
        if errors:
            case, why = errors[0]
            self.memory.drop(draft.candidate or "")
            told = "evaluator_error: it could not be evaluated on every case"
            self.reject(draft, EventKind.CANDIDATE_REJECTED, told, f" (first: '{case}': {self.redact(why)})")
        return bool(errors)

    def validate_seed(self) -> Steps[Pool]:
        """The seed on the validation split, one case first where that shows whether the caps can hold."""
        draft, cases = self.open(0), self.dataset.validation
        cost_front = self.settings.frontier == "hybrid"
        needs_cost = cost_front or self.settings.max_cost_growth is not None
        first = 1 if self.budget.watches_usage or needs_cost else len(cases)
        outcomes: dict[str, Outcome] = {}
        for part in (cases[:first], cases[first:]):
            if not part:
                continue
            fresh = yield from self.evaluate(draft, self.seed, part, "seed")
            self.require_answers(fresh, "the validation of the seed skill")
            outcomes |= fresh
            if needs_cost:
                self._require_cost(fresh)
        scores = scores_of(outcomes)
        if not scores:
            raise ConfigError(f"every validation case was skipped: {named(outcomes)}")
        pool = self.pool = Pool(tuple(scores), cost_front=cost_front)
        entry = pool.add(self.seed, scores, iteration=0, cost=self.cost_of(self.seed, outcomes))
        if self.settings.max_cost_growth is not None and entry.cost is not None and entry.cost < 0:
            raise ConfigError(
                f"the seed skill's cost ({self.settings.cost}) is {entry.cost:g}: a limit on its growth needs "
                "a cost of 0 or more; choose another cost or leave out max_cost_growth"
            )
        self.close(draft, EventKind.SEED_VALIDATED, f"the seed skill's validation mean is {entry.mean:.4f}")
        return pool

    def cost_of(self, skill: Skill, outcomes: Mapping[str, Outcome]) -> float | None:
        """The mean cost of these rollouts by the measure of the settings; None when one of them is unknown."""
        if self.settings.cost == "size":
            return float(len(skill.text))
        evaluations = [outcome.evaluation for outcome in outcomes.values() if outcome.evaluation is not None]
        costs = [self._cost(evaluation) for evaluation in evaluations]
        known = [cost for cost in costs if cost is not None]
        return mean(known) if known and len(known) == len(costs) else None

    def too_dear(self, pool: Pool, cost: float | None) -> tuple[str, str] | None:
        """Why a candidate of this cost may not enter the pool, and the figures; None if it may.

        The seed's cost is the measure, and not the parent's: many steps that are each within the limit add up.
        """
        limit, seed = self.settings.max_cost_growth, pool.entry(0).cost
        if limit is None:
            return None
        if cost is None or seed is None:
            return f"its cost ({self.settings.cost}) is unknown, so nobody can say how far it grew", ""
        if cost <= round(limit * seed, 9):
            return None
        told = f"too dear: its cost ({self.settings.cost}) is above {limit:g} times the seed skill's"
        return told, f", {cost:g} a validation rollout after {seed:g}"

    def _cost(self, evaluation: Evaluation) -> float | None:
        if self.settings.cost == "tokens":
            roles = evaluation.usage.values()
            if len(roles) == 1:
                (usage,) = roles
                return usage.tokens
            return Usage.total(roles).tokens if roles else None
        name = self.settings.cost.removesuffix(HIGHER)
        value = evaluation.objectives.get(name)
        return -value if value is not None and name != self.settings.cost else value

    def _require_cost(self, outcomes: Mapping[str, Outcome]) -> None:
        """Raise ConfigError for a case whose cost is unknown."""
        for case, outcome in outcomes.items():
            if (
                self.settings.cost != "size"
                and outcome.evaluation is not None
                and self._cost(outcome.evaluation) is None
            ):
                what = (
                    "tokens"
                    if self.settings.cost == "tokens"
                    else f"objective '{self.settings.cost.removesuffix(HIGHER)}'"
                )
                needs = {
                    "the frontier 'hybrid'": self.settings.frontier == "hybrid",
                    "max_cost_growth": self.settings.max_cost_growth is not None,
                }
                wanted = " and ".join(name for name, given in needs.items() if given)
                raise ConfigError(
                    f"case '{case}' reports no {what}, so there is no cost to compare: record it in every case, "
                    f"choose another cost, or leave out {wanted}"
                )

    # The end.

    def require_another(self, pool: Pool, rollouts: int) -> int:
        """How many proposals of `rollouts` rollouts each may start side by side. Raises Stop when it is none."""
        if stop := self.obstacle(pool, rollouts):
            raise stop
        width = min(self.settings.width, self.settings.iterations - self.iteration)
        while self.budget.refusal(width * rollouts, width):
            width -= 1
        return width

    def obstacle(self, pool: Pool, rollouts: int, reflections: int = 1) -> Stop | None:
        """Why no further proposal may start that needs so many rollouts and reflections at worst; None if it may."""
        settings, best = self.settings, pool.best.mean
        if settings.threshold is not None and best >= settings.threshold:
            return self._threshold_reached(pool, best)
        idle = self.iteration - self.improved
        if settings.patience is not None and idle >= settings.patience:
            return Stop(StopReason.NO_IMPROVEMENT, f"the best mean is {best:.4f} since {idle} iterations")
        if self.iteration >= settings.iterations:
            return Stop(StopReason.MAX_ITERATIONS, f"all {settings.iterations} iterations are used")
        refusal = self.budget.refusal(rollouts, reflections)
        return None if refusal is None else Stop(refusal.reason, refusal.detail)

    def worst_case(self, pool: Pool) -> int:
        """Rollouts of one proposal at the most."""
        return iteration_rollouts(len(self.feedback), len(pool.cases), self.settings.minibatch)

    def _threshold_reached(self, pool: Pool, best: float) -> Stop:
        if len(pool) == 1 and best >= 1:
            return Stop(StopReason.SATURATED, "the seed skill is perfect on every validation case: nothing to win")
        return Stop(StopReason.SCORE_THRESHOLD, f"the best mean {best:.4f} reached {self.settings.threshold}")


def scores_of(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
    """The scores of the cases that have one."""
    return {case: outcome.evaluation.score for case, outcome in outcomes.items() if outcome.evaluation is not None}


def named(cases: Mapping[str, Outcome] | Sequence[str]) -> str:
    """The first few case ids, for a message."""
    shown = list(cases)[:5]
    return ", ".join(shown) + (f" and {len(cases) - 5} more" if len(cases) > 5 else "")
