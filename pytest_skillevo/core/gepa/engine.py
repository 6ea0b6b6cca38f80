"""The search as a pure ask/tell engine: no clock, no chance but keyed draws, no input or output.

The loop is a generator that yields batches of requests and is sent their answers, so it reads as the algorithm of
spec/gepa.md 1.6. The same seed and the same answers, in any order within a batch, give the same requests byte for byte;
that is why telling the recorded answers to a new engine resumes a search.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from typing import NoReturn, TypeAlias

from ..draws import draw_int
from ..errors import ConfigError
from ..records import Evaluation, Outcome, RolloutRequest
from ..skill import Skill
from .answer import Rejection
from .budget import Budget, iteration_rollouts
from .draft import Draft
from .pool import Memory, Pool, total
from .prompt import Attempt, Brief
from .reflection import SEEDS, Child, Reflector
from .requests import (
    PHASES,
    Answer,
    ReflectionAnswer,
    ReflectionFailed,
    ReflectionRequest,
    Request,
    RolloutAnswer,
    Step,
    rollout_id,
)
from .results import EventKind, SearchEvent, SearchResult, StopReason
from .settings import SearchDataset, SearchSettings
from .strategy import Strategy

_Batch: TypeAlias = tuple[Request, ...]
_Answers: TypeAlias = Mapping[str, Answer]


class _Stop(Exception):
    def __init__(self, reason: StopReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class Engine:
    """A GEPA search over one skill.

    `redact` cleans what goes to the reflection model, `leak_check` says why a proposed text may not pass (None: it may;
    so holdout texts stay with the caller), `watched` gives the texts of feedback and validation cases that a proposal
    must not copy. Raises ConfigError when the budget does not pay the seed's validation.
    """

    def __init__(
        self,
        seed: Skill,
        dataset: SearchDataset,
        settings: SearchSettings,
        *,
        strategy: Strategy | None = None,
        redact: Callable[[str], str] = lambda text: text,
        leak_check: Callable[[str], str | None] = lambda text: None,
        watched: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._seed = seed
        self._dataset = dataset
        self._settings = settings
        self._strategy = strategy or Strategy()
        self._redact = redact
        self._reflector = Reflector(
            settings,
            redact=redact,
            leak_check=leak_check,
            watched=[text for texts in (watched or {}).values() for text in texts],
            case_ids=(*dataset.feedback, *dataset.validation),
        )
        self._budget = Budget(dataset, settings)
        self._memory = Memory(settings.rejected_shown)
        self._skills = {seed.digest: seed}
        self._feedback = dataset.feedback
        self._places = {case: i for split in (dataset.feedback, dataset.validation) for i, case in enumerate(split)}
        self._pool: Pool | None = None
        self._scored: set[str] = set()
        self._left_out: list[str] = []
        self._events: list[SearchEvent] = []
        self._draft: Draft | None = None
        self._iteration = 0
        self._improved = 0
        self._stop_reason: StopReason | None = None
        self._stop_detail = ""
        self._loop = self._search()
        self._batch: _Batch = next(self._loop)

    def ask(self) -> tuple[Request, ...]:
        """The current batch, the same until its answers are told; empty when the search is finished."""
        return self._batch

    def tell(self, answers: Sequence[Answer]) -> None:
        """Take the answers of the whole batch, in any order.

        Raises ValueError, and changes nothing, when they do not match the batch. Raises ConfigError, which ends the
        search, when a case was skipped for one skill and scored for another, or when a split has no case left.
        """
        matched = _matched(self._batch, answers)
        try:
            self._batch = self._loop.send(matched)
        except StopIteration:
            self._batch = ()
        except Exception as error:
            self._finish(StopReason.EVALUATOR_ERROR, str(error))
            raise

    def stop(self, reason: StopReason, detail: str = "") -> None:
        """End the search from outside; what is in flight is not waited for. Does nothing once it is finished."""
        if not self.finished:
            self._loop.close()
            self._finish(reason, detail)

    @property
    def finished(self) -> bool:
        """Whether there is nothing more to ask."""
        return self._stop_reason is not None

    @property
    def stop_reason(self) -> StopReason | None:
        """Why the search ended; None while it runs."""
        return self._stop_reason

    def skill(self, digest: str) -> Skill:
        """The skill of a digest that stood in a request or stands in the result. Raises KeyError for any other."""
        return self._skills[digest]

    def result(self) -> SearchResult:
        """The outcome so far; final when the search is finished."""
        return SearchResult(
            self._seed.digest,
            self._seed.digest if self._pool is None else self._pool.best.digest,
            self._stop_reason,
            self._stop_detail,
            () if self._pool is None else self._pool.entries,
            tuple(self._events),
            self._iteration,
            self._budget.rollouts,
            dict(self._budget.usage),
            tuple(self._left_out),
        )

    # The search.

    def _search(self) -> Generator[_Batch, _Answers, None]:
        try:
            pool = yield from self._validate_seed()
            while True:
                self._check_end(pool)
                self._iteration += 1
                yield from self._iterate(pool)
        except _Stop as stop:
            self._finish(stop.reason, stop.detail)

    def _validate_seed(self) -> Generator[_Batch, _Answers, Pool]:
        draft = self._open()
        outcomes = yield from self._evaluate(self._seed, self._dataset.validation, "seed")
        self._require_answers(outcomes, "the validation of the seed skill")
        scores = _scores(outcomes)
        if not scores:
            raise ConfigError(f"every validation case was skipped: {_named(outcomes)}")
        pool = self._pool = Pool(tuple(scores))
        entry = pool.add(self._seed, scores, iteration=0)
        self._close(draft, EventKind.SEED_VALIDATED, f"the seed skill's validation mean is {entry.mean:.4f}")
        return pool

    def _iterate(self, pool: Pool) -> Generator[_Batch, _Answers, None]:
        key = {"seed": self._settings.seed, "iteration": self._iteration}
        place = self._strategy.select_parent(pool, **key)
        parent = pool.skill(place)
        draft = self._open()
        draft.parent = parent.digest
        draft.minibatch = self._strategy.sample(self._feedback, self._settings.minibatch, **key)
        outcomes = yield from self._evaluate(parent, draft.minibatch, "parent")
        self._require_answers(outcomes, "the parent's minibatch")
        records = [(case, outcome.evaluation) for case, outcome in outcomes.items() if outcome.evaluation is not None]
        draft.minibatch = tuple(case for case, _ in records)
        if not records:
            self._close(draft, EventKind.MINIBATCH_SKIPPED, "every case of the minibatch was skipped")
            return
        draft.parent_scores = tuple(evaluation.score for _, evaluation in records)
        if min(draft.parent_scores) >= 1:
            self._close(draft, EventKind.MINIBATCH_PERFECT, "the parent is perfect on the minibatch: nothing to win")
            return
        draft.component = self._strategy.select_component(parent, pool.next_cursor(place))
        child = yield from self._reflect(draft, parent, draft.component, records)
        if child is not None and not self._is_known(draft, pool, child):
            yield from self._try_child(draft, pool, place, child)

    def _reflect(
        self, draft: Draft, parent: Skill, component: str, records: Sequence[tuple[str, Evaluation]]
    ) -> Generator[_Batch, _Answers, Child | None]:
        try:
            brief = Brief(parent, component, records, self._memory.of(parent.digest))
            request = self._reflector.request(self._iteration, brief)
            answer = (yield (request,))[request.id]
            if isinstance(answer, ReflectionFailed):
                raise _Stop(StopReason.PROVIDER_ERROR, self._redact(answer.error))
            assert isinstance(answer, ReflectionAnswer)
            self._budget.charge_reflection(answer.usage)
            child = self._reflector.child(parent, component, answer)
        except Rejection as rejection:
            draft.text, draft.rationale = rejection.text, rejection.rationale
            self._reject(draft, EventKind.REFLECTION_REJECTED, rejection.reason)
            return None
        draft.text, draft.rationale, draft.candidate = child.text, child.rationale, child.skill.digest
        return child

    def _is_known(self, draft: Draft, pool: Pool, child: Child) -> bool:
        """Whether the child is in the pool or was rejected before: then it costs no rollout."""
        digest = child.skill.digest
        if digest == draft.parent:
            reason = "the proposal changes nothing"
        elif digest in pool:
            reason = "the same skill is in the pool already"
        elif digest in self._memory:
            reason = "the same skill was rejected before"
        else:
            return False
        self._reject(draft, EventKind.CANDIDATE_DUPLICATE, reason)
        return True

    def _try_child(self, draft: Draft, pool: Pool, place: int, child: Child) -> Generator[_Batch, _Answers, None]:
        """The child on the parent's minibatch with the parent's seed, then on the whole validation split."""
        skill = self._skills.setdefault(child.skill.digest, child.skill)
        outcomes = yield from self._evaluate(skill, draft.minibatch, "child")
        if self._child_failed(draft, outcomes):
            return
        draft.child_scores = tuple(_scores(outcomes).values())
        before, after = total(draft.parent_scores), total(draft.child_scores)
        if not self._strategy.accept(draft.parent_scores, draft.child_scores):
            reason = f"it scored {after:g} on the minibatch and the parent {before:g}: not better"
            self._reject(draft, EventKind.CANDIDATE_REJECTED, reason)
            return
        outcomes = yield from self._evaluate(skill, pool.cases, "validation")
        if self._child_failed(draft, outcomes):
            return
        best = pool.best.mean
        entry = pool.add(
            skill,
            _scores(outcomes),
            iteration=self._iteration,
            parent=place,
            component=draft.component,
            rationale=draft.rationale,
        )
        if entry.mean > best:
            self._improved = self._iteration
        draft.text = None
        verdict = f"minibatch {after:g} after {before:g}; validation mean {entry.mean:.4f}, best so far {best:.4f}"
        self._close(draft, EventKind.CANDIDATE_ACCEPTED, verdict)

    # What the steps share.

    def _evaluate(
        self, skill: Skill, cases: tuple[str, ...], step: Step
    ) -> Generator[_Batch, _Answers, dict[str, Outcome]]:
        """The outcomes by case, in the given order; charges the budget and leaves skipped cases out of the search."""
        phase = PHASES[step]
        # One seed for all validations of a run and one for both arms of a minibatch: pairs differ in the skill only.
        key = (0, "search-validation") if phase == "validation" else (self._iteration, "search-minibatch")
        seed = draw_int(SEEDS, self._settings.seed, *key)
        ids = {case: rollout_id(self._iteration, step, self._places[case]) for case in cases}
        answers = yield tuple(RolloutRequest(ids[case], case, skill.digest, seed, 0, phase) for case in cases)
        outcomes: dict[str, Outcome] = {}
        for case in cases:
            answer = answers[ids[case]]
            assert isinstance(answer, RolloutAnswer)
            outcomes[case] = answer.outcome
        self._budget.charge_rollouts(outcomes.values())
        self._leave_out([case for case, outcome in outcomes.items() if outcome.status == "skipped"], outcomes)
        self._scored.update(case for case, outcome in outcomes.items() if outcome.status == "scored")
        return outcomes

    def _leave_out(self, skipped: Sequence[str], outcomes: Mapping[str, Outcome]) -> None:
        for case in skipped:
            if case in self._scored:
                raise ConfigError(
                    f"case '{case}' was skipped for one skill and scored for another ({outcomes[case].reason}): "
                    "a skip must not depend on the skill, because the two could not be compared"
                )
            self._left_out.append(case)
        if not skipped:
            return
        assert self._draft is not None
        self._draft.left_out = tuple(skipped)
        self._feedback = tuple(case for case in self._feedback if case not in skipped)
        if not self._feedback:
            raise ConfigError(f"every feedback case was skipped: {_named(self._dataset.feedback)}")

    def _require_answers(self, outcomes: Mapping[str, Outcome], what: str) -> None:
        """A parent that cannot be evaluated says nothing about any candidate: the run stops and can be resumed."""
        for case, outcome in outcomes.items():
            if outcome.status == "errored":
                raise _Stop(StopReason.EVALUATOR_ERROR, self._redact(f"{what}: case '{case}': {outcome.reason}"))

    def _child_failed(self, draft: Draft, outcomes: Mapping[str, Outcome]) -> bool:
        """The parent could be evaluated and the child could not: the child is to blame."""
        errors = [(case, outcome.reason) for case, outcome in outcomes.items() if outcome.status == "errored"]
        if errors:
            case, why = errors[0]
            told = f"evaluator_error: {len(errors)} of {len(outcomes)} runs could not be evaluated"
            self._reject(draft, EventKind.CANDIDATE_REJECTED, told, f" (first: '{case}': {self._redact(why)})")
        return bool(errors)

    def _reject(self, draft: Draft, kind: EventKind, reason: str, details: str = "") -> None:
        """Close the iteration without a new candidate. The model is told the reason, but not the details."""
        assert draft.parent is not None
        attempt = Attempt(draft.component or "", draft.text or "", reason)
        self._memory.keep(draft.parent, attempt, draft.candidate)
        self._close(draft, kind, reason + details)

    def _check_end(self, pool: Pool) -> None:
        """Raise _Stop when no further iteration may start."""
        settings, best = self._settings, pool.best.mean
        if settings.threshold is not None and best >= settings.threshold:
            self._end_at_threshold(pool, best)
        idle = self._iteration - self._improved
        if settings.patience is not None and idle >= settings.patience:
            raise _Stop(StopReason.NO_IMPROVEMENT, f"the best mean is {best:.4f} since {idle} iterations")
        if self._iteration >= settings.iterations:
            raise _Stop(StopReason.MAX_ITERATIONS, f"all {settings.iterations} iterations are used")
        need = iteration_rollouts(len(self._feedback), len(pool.cases), settings.minibatch)
        if refusal := self._budget.refusal(need):
            raise _Stop(refusal.reason, refusal.detail)

    def _end_at_threshold(self, pool: Pool, best: float) -> NoReturn:
        if len(pool) == 1 and best >= 1:
            raise _Stop(StopReason.SATURATED, "the seed skill is perfect on every validation case: nothing to win")
        raise _Stop(StopReason.SCORE_THRESHOLD, f"the best mean {best:.4f} reached {self._settings.threshold}")

    def _open(self) -> Draft:
        self._draft = Draft(self._iteration)
        return self._draft

    def _close(self, draft: Draft, kind: EventKind, verdict: str) -> None:
        self._events.append(draft.event(kind, verdict, self._budget.rollouts))
        self._draft = None

    def _finish(self, reason: StopReason, detail: str) -> None:
        if self._draft is not None:
            self._close(self._draft, EventKind.ITERATION_CUT, f"{reason}: {detail}" if detail else reason.value)
        self._batch = ()
        self._stop_reason, self._stop_detail = reason, detail


def _matched(batch: _Batch, answers: Sequence[Answer]) -> dict[str, Answer]:
    """The answers by request id. Raises ValueError unless there is exactly one fitting answer for each request."""
    if len(answers) != len(batch):
        raise ValueError(f"the batch holds {len(batch)} requests, but {len(answers)} answers were told")
    requests = {request.id: request for request in batch}
    matched: dict[str, Answer] = {}
    for answer in answers:
        request = requests.get(answer.request_id)
        if request is None:
            raise ValueError(f"the request '{answer.request_id}' was not asked")
        if problem := "is answered twice" if request.id in matched else _misfit(request, answer):
            case = f" (case '{request.case_id}')" if isinstance(request, RolloutRequest) else ""
            raise ValueError(f"the request '{request.id}'{case} {problem}")
        matched[request.id] = answer
    return matched


def _misfit(request: Request, answer: Answer) -> str | None:
    if isinstance(request, ReflectionRequest) == isinstance(answer, RolloutAnswer):
        return f"is answered with a {type(answer).__name__}"
    if not isinstance(answer, RolloutAnswer):
        return None
    if (answer.outcome.status == "scored") != (answer.outcome.evaluation is not None):
        return "has an outcome that must hold an evaluation if and only if it is scored"
    return None


def _scores(outcomes: Mapping[str, Outcome]) -> dict[str, float]:
    return {case: outcome.evaluation.score for case, outcome in outcomes.items() if outcome.evaluation is not None}


def _named(cases: Mapping[str, Outcome] | Sequence[str]) -> str:
    shown = list(cases)[:5]
    return ", ".join(shown) + (f" and {len(cases) - 5} more" if len(cases) > 5 else "")
