"""The methods of search: GEPA, and the baselines that show whether reflection was worth its price."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ..skill import Skill
from .components import Evidence
from .merge import Merge, trial_cases
from .pacing import paced
from .pool import Pool, total
from .proposing import Candidate, candidate_of, chosen_components, enter, is_known, reflect, validate
from .results import EventKind, StopReason
from .state import State, scores_of
from .steps import Steps, Stop, together

#: The component that the event of a merge names.
MERGE: Final = "merge"


def search(state: State) -> Steps[None]:
    """A whole search by the method of the settings. Ends by raising Stop."""
    pool = yield from state.validate_seed()
    method = state.settings.method
    if method == "seed":
        raise Stop(StopReason.MAX_ITERATIONS, "the method 'seed' validates the seed skill only")
    if method == "no-skill":
        yield from _without_skill(state, pool)
    one_round = _best_of_n if method == "best-of-n" else _round
    while True:
        yield from one_round(state, pool)


# GEPA.


def _round(state: State, pool: Pool) -> Steps[None]:
    """A merge, if one is due and can be found, else proposals side by side."""
    width = state.require_another(pool, state.worst_case(pool))
    if state.merger.due and state.events[-1].kind is EventKind.CANDIDATE_ACCEPTED:
        key = {"seed": state.settings.seed, "iteration": state.iteration + 1}
        known = pool.__contains__
        merge = state.merger.find(pool, known=lambda digest: known(digest) or state.memory.knows(digest, "", ()), **key)
        if merge is not None:
            yield from _try_merge(state, pool, merge)
            return
    size = len(pool)
    state.siblings.clear()
    proposed = yield from together([paced(state, pool, width) for _ in range(width)])
    passed = [candidate for candidate in proposed if candidate is not None]
    yield from together([validate(state, pool, candidate) for candidate in _kept(state, passed)])
    for _ in range(len(pool) - size):
        state.merger.earn()


def _kept(state: State, passed: Sequence[Candidate]) -> list[Candidate]:
    """Those with the largest gain, in the order of their iterations; the others are told so."""
    best = best_gains([candidate.gain for candidate in passed], state.settings.keep)
    for place, candidate in enumerate(passed):
        if place not in best:
            told = "not selected: it passed its minibatch, but others of the same round gained more"
            state.reject(candidate.draft, EventKind.CANDIDATE_REJECTED, told)
    return [candidate for place, candidate in enumerate(passed) if place in best]


def best_gains(gains: Sequence[float], keep: int | None) -> list[int]:
    """The places of the largest gains, the largest first, of equal ones the earlier."""
    return sorted(range(len(gains)), key=lambda place: (-gains[place], place))[:keep]


def _try_merge(state: State, pool: Pool, merge: Merge) -> Steps[None]:
    """The merge on a few validation cases; as good there as both parents, on the others as well."""
    draft = state.begin()
    left, right = pool.entry(merge.left), pool.entry(merge.right)
    draft.parent, draft.component, draft.candidate = left.digest, MERGE, merge.skill.digest
    draft.rationale = f"{', '.join(merge.taken)} of {right.digest[:12]}"
    skill = state.skills.setdefault(merge.skill.digest, merge.skill)
    trial = trial_cases(pool, merge.left, merge.right, state.settings.seed, draft.iteration)
    outcomes = yield from state.evaluate(draft, skill, trial, "validation")
    if state.child_failed(draft, outcomes):
        return
    wanted = max(total([entry.scores[case] for case in trial]) for entry in (left, right))
    reached = total(list(scores_of(outcomes).values()))
    if reached < wanted:
        told = f"no improvement: the merge scored {reached:g} on {len(trial)} validation cases, a parent {wanted:g}"
        state.memory.drop(skill.digest)
        state.reject(draft, EventKind.CANDIDATE_REJECTED, told)
        return
    rest = [case for case in pool.cases if case not in trial]
    if rest:
        fresh = yield from state.evaluate(draft, skill, rest, "validation")
        if state.child_failed(draft, fresh):
            return
        outcomes |= fresh
    if enter(state, pool, candidate_of(draft, skill, merge.left, reached - wanted), outcomes, merge.right):
        state.merger.accept()


# Baselines.


def _best_of_n(state: State, pool: Pool) -> Steps[None]:
    """Variations of the seed that the model writes without having seen a record; the best validation mean wins."""
    width = state.require_another(pool, len(pool.cases))
    state.siblings.clear()
    yield from together([_variation(state, pool) for _ in range(width)])


def _variation(state: State, pool: Pool) -> Steps[None]:
    draft = state.begin()
    draft.parent = state.seed.digest
    components = chosen_components(state, pool, 0, state.seed, Evidence((), ()))
    child = yield from reflect(state, draft, state.seed, components, ())
    if child is not None and not is_known(state, draft, pool, child):
        skill = state.skills.setdefault(child.digest, child)
        yield from validate(state, pool, candidate_of(draft, skill, 0, 0.0))


def _without_skill(state: State, pool: Pool) -> Steps[None]:
    """What the agent does without the skill; this is shown and never handed over."""
    absent = Skill.absent(state.seed.name)
    if refusal := state.budget.refusal(len(pool.cases), reflections=0):
        raise Stop(refusal.reason, refusal.detail)
    draft = state.begin()
    draft.candidate = absent.digest
    skill = state.skills.setdefault(absent.digest, absent)
    outcomes = yield from state.evaluate(draft, skill, pool.cases, "validation")
    state.require_answers(outcomes, "the validation without the skill")
    reached = total(list(scores_of(outcomes).values())) / len(pool.cases)
    state.close(draft, EventKind.ABSENCE_VALIDATED, f"without the skill the validation mean is {reached:.4f}")
    raise Stop(StopReason.MAX_ITERATIONS, "the method 'no-skill' validates the seed skill and its absence only")
