"""The search as a pure ask/tell engine: no clock, no chance but keyed draws, no input or output.

The search is a generator that yields batches of requests and is sent their answers, so that it reads as the algorithm
of spec/gepa.md 1.6: methods.py has the loop, proposing.py one proposal, state.py the books. The same seed and the same
answers, in any order within a batch, give the same requests byte for byte; that is why telling the recorded answers to
a new engine resumes a search.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..records import RolloutRequest
from ..skill import Skill
from .components import check_frozen
from .methods import search
from .pool import Pool
from .prompt import Brief
from .reflection import Reflector
from .requests import Answer, ReflectionRequest, Request, RolloutAnswer
from .results import PoolEntry, SearchResult, StopReason
from .settings import SearchDataset, SearchSettings
from .state import State
from .steps import Batch, Steps, Stop
from .strategy import Strategy


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
        self._settings = settings
        check_frozen(seed, settings.frozen)
        reflector = Reflector(
            settings,
            redact=redact,
            leak_check=leak_check,
            watched=[text for texts in (watched or {}).values() for text in texts],
            case_ids=(*dataset.feedback, *dataset.validation),
        )
        self._state = State(seed, dataset, settings, strategy or Strategy(), reflector, redact)
        self._stop_reason: StopReason | None = None
        self._stop_detail = ""
        self._loop = self._search()
        self._batch: Batch = next(self._loop, ())

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
        return self._state.skills[digest]

    def brief(self, request_id: str) -> Brief:
        """What a reflection request of the current batch is about, for a proposer that is no language model."""
        return self._state.briefs[request_id]

    @property
    def dataset(self) -> SearchDataset:
        """The cases of the search."""
        return self._state.dataset

    @property
    def event_count(self) -> int:
        """How many events the result has so far; cheap, so that a driver may look after every batch."""
        return len(self._state.events)

    def result(self) -> SearchResult:
        """The outcome so far; final when the search is finished."""
        state, pool = self._state, self._state.pool
        return SearchResult(
            state.seed.digest,
            state.seed.digest if pool is None else self._picked(pool).digest,
            self._stop_reason,
            self._stop_detail,
            () if pool is None else pool.entries,
            tuple(state.events),
            state.iteration,
            state.budget.rollouts,
            dict(state.budget.usage),
            tuple(state.left_out),
        )

    def _picked(self, pool: Pool) -> PoolEntry:
        return pool.pick_plain() if self._settings.pick == "one-se" else pool.pick(self._settings.epsilon)

    def _search(self) -> Steps[None]:
        try:
            yield from search(self._state)
        except Stop as stop:
            self._finish(stop.reason, stop.detail)

    def _finish(self, reason: StopReason, detail: str) -> None:
        self._state.cut(f"{reason}: {detail}" if detail else reason.value)
        self._batch = ()
        self._stop_reason, self._stop_detail = reason, detail


def _matched(batch: Batch, answers: Sequence[Answer]) -> dict[str, Answer]:
    """The answers by request id. Raises ValueError unless there is exactly one fitting answer for each request."""
    if len(answers) != len(batch):
        raise ValueError(f"the batch holds {len(batch)} requests, but {len(answers)} answers were told")
    requests = {request.id: request for request in batch}
    matched: dict[str, Answer] = {}
    for answer in answers:
        id = answer.request_id
        request = requests.get(id)
        if request is None:
            raise ValueError(f"the request '{id}' was not asked")
        if problem := "is answered twice" if id in matched else _misfit(request, answer):
            case = f" (case '{request.case_id}')" if isinstance(request, RolloutRequest) else ""
            raise ValueError(f"the request '{id}'{case} {problem}")
        matched[id] = answer
    return matched


def _misfit(request: Request, answer: Answer) -> str | None:
    if isinstance(answer, RolloutAnswer) is isinstance(request, ReflectionRequest):
        return f"is answered with a {type(answer).__name__}"
    if not isinstance(answer, RolloutAnswer):
        return None
    if (answer.outcome.status == "scored") != (answer.outcome.evaluation is not None):
        return "has an outcome that must hold an evaluation if and only if it is scored"
    return None
