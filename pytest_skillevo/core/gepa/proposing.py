"""One proposal from parent to pool: minibatch, reflection, the child on the same minibatch, validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..records import Evaluation, Outcome
from ..skill import Skill
from .acceptance import certain
from .answer import Rejection
from .components import Evidence, component_cycle
from .draft import Draft
from .pool import Pool, total
from .prompt import Brief
from .requests import ReflectionAnswer, ReflectionFailed, reflection_id
from .results import EventKind, StopReason
from .state import State, scores_of
from .steps import Steps, Stop
from .validation import Race


@dataclass(frozen=True, slots=True)
class Candidate:
    """A child that passed its minibatch and waits for validation."""

    #: Of the iteration that made it.
    draft: Draft
    skill: Skill
    #: Place in the pool of the skill that it was made from.
    parent: int
    #: The gain on the minibatch, as far as it was run.
    gain: float
    #: Changed components and why; several when it was made in several steps.
    components: tuple[str, ...]
    rationale: str
    #: The last iteration that was spent on it.
    last: int


def propose(
    state: State, pool: Pool, draft: Draft, place: int, before: Candidate | None = None
) -> Steps[Candidate | None]:
    """A child that passed its minibatch, or None and the event that says why not.

    It is made of the pool's skill at `place`, or of a candidate `before` that was made of that and is not validated.
    """
    parent = pool.skill(place) if before is None else before.skill
    draft.parent = parent.digest
    draft.follows = None if before is None else before.draft.iteration
    records = yield from _parent_minibatch(state, draft, parent)
    if records is None:
        return None
    components = chosen_components(state, pool, place, parent, Evidence(records, state.memory.of(parent.digest)))
    child = yield from reflect(state, draft, parent, components, records)
    if child is None or is_known(state, draft, pool, child):
        return None
    return (yield from _child_minibatch(state, draft, place, child))


def chosen_components(state: State, pool: Pool, place: int, parent: Skill, evidence: Evidence) -> tuple[str, ...]:
    """What the selector chooses, frozen components passed over."""
    cycle = component_cycle(parent)
    for _ in cycle:
        chosen = state.strategy.select_component(parent, pool.next_cursor(place), evidence)
        components = (chosen,) if isinstance(chosen, str) else tuple(chosen)
        if free := tuple(name for name in components if name not in state.settings.frozen):
            return free
    # A selector that insists on a frozen component is not followed.
    return tuple(name for name in cycle if name not in state.settings.frozen)[:1]


def _parent_minibatch(state: State, draft: Draft, parent: Skill) -> Steps[Sequence[tuple[str, Evaluation]] | None]:
    """The parent's evaluations on the minibatch; None, and the event is closed, when they leave nothing to do."""
    settings = state.settings
    draft.minibatch = state.strategy.sample(
        state.feedback, settings.minibatch, seed=settings.seed, iteration=draft.iteration, history=state.history
    )
    outcomes = yield from state.evaluate(draft, parent, draft.minibatch, "parent")
    state.require_answers(outcomes, "the parent's minibatch")
    state.history.drawn(scores_of(outcomes))
    records = [(case, outcome.evaluation) for case, outcome in outcomes.items() if outcome.evaluation is not None]
    draft.minibatch = tuple(case for case, _ in records)
    if not records:
        state.close(draft, EventKind.MINIBATCH_SKIPPED, "every case of the minibatch was skipped")
        return None
    draft.parent_scores = tuple(evaluation.score for _, evaluation in records)
    if min(draft.parent_scores) >= 1:
        state.close(draft, EventKind.MINIBATCH_PERFECT, "the parent is perfect on the minibatch: nothing to win")
        return None
    return records


def reflect(
    state: State,
    draft: Draft,
    parent: Skill,
    components: Sequence[str],
    records: Sequence[tuple[str, Evaluation]],
) -> Steps[Skill | None]:
    """The parent with new texts for the components, each from a reflection of its own, on top of those before.

    An answer that cannot be taken costs only its component; when none can, the event is closed and there is no child.
    """
    child, refused, texts, reasons = parent, [], [], []
    for part, component in enumerate(components):
        draft.component = component
        try:
            child, text, rationale = yield from _one_component(state, draft, parent, child, component, part, records)
        except Rejection as rejection:
            refused.append(rejection)
            continue
        texts.append((component, text))
        reasons.append(rationale)
    if not texts:
        first = refused[0]
        draft.text, draft.rationale = first.text, first.rationale
        state.reject(draft, EventKind.REFLECTION_REJECTED, first.reason)
        return None
    draft.component = "+".join(component for component, _ in texts)
    draft.text = "\n\n".join(text for _, text in texts)
    draft.rationale = "\n".join(reason for reason in reasons if reason)
    draft.candidate = child.digest
    return child


def _one_component(
    state: State,
    draft: Draft,
    parent: Skill,
    child: Skill,
    component: str,
    part: int,
    records: Sequence[tuple[str, Evaluation]],
) -> Steps[tuple[Skill, str, str]]:
    """The child so far with a new text for one component. Raises Rejection."""
    state.budget.reserve_reflection()
    brief = Brief(child, component, records, state.memory.of(parent.digest))
    request = state.reflector.request(reflection_id(draft.iteration, part), (draft.iteration, part), brief)
    state.briefs[request.id] = brief
    answer = (yield (request,))[request.id]
    del state.briefs[request.id]
    if isinstance(answer, ReflectionFailed):
        raise Stop(StopReason.PROVIDER_ERROR, state.redact(answer.error))
    assert isinstance(answer, ReflectionAnswer)
    state.budget.settle_reflection(answer.usage)
    return state.reflector.child(child, component, answer)


def is_known(state: State, draft: Draft, pool: Pool, child: Skill) -> bool:
    """Whether the child is in the pool, lost on these cases before or is being tried: then it costs no rollout."""
    digest = child.digest
    if digest == draft.parent:
        reason = "the proposal changes nothing"
    elif digest in pool:
        reason = "the same skill is in the pool already"
    elif state.memory.knows(digest, draft.parent or "", draft.minibatch):
        reason = "the same skill was rejected before"
    elif digest in state.siblings:
        reason = "the same skill is being tried already"
    else:
        state.siblings.add(digest)
        return False
    state.reject(draft, EventKind.CANDIDATE_DUPLICATE, reason)
    return True


def _child_minibatch(state: State, draft: Draft, place: int, child: Skill) -> Steps[Candidate | None]:
    """The child on the parent's minibatch with the parent's seed, until the verdict is certain.

    The cases on which the parent did worst come first: there a bad child fails soonest and a good one gains most.
    """
    settings, accept = state.settings, state.strategy.accept
    skill = state.skills.setdefault(child.digest, child)
    parent, cases = draft.parent_scores, draft.minibatch
    order = sorted(range(len(cases)), key=lambda i: (parent[i], i))
    size = settings.chunk if settings.stop_early else len(cases)
    scores: list[float | None] = [None] * len(cases)
    verdict: bool | None = None
    while verdict is None and None in scores:
        part = [i for i in order if scores[i] is None][:size]
        if size >= len(cases):
            part.sort()
        outcomes = yield from state.evaluate(draft, skill, [cases[i] for i in part], "child")
        if state.child_failed(draft, outcomes):
            return None
        found = scores_of(outcomes)
        for i in part:
            scores[i] = found[cases[i]]
        if None in scores:
            verdict = certain(accept, parent, scores)
            if verdict and settings.keep is not None:
                verdict = None  # the size of the gain decides who is kept
    known = [score for score in scores if score is not None]
    if verdict is None:
        verdict = accept(parent, known)
    if len(known) == len(cases):
        draft.child_scores = tuple(known)
    if not verdict:
        _reject_child(state, draft, len(known))
        return None
    return candidate_of(draft, skill, place, total(known) - total(parent))


def candidate_of(draft: Draft, skill: Skill, parent: int, gain: float) -> Candidate:
    """The candidate that one iteration made."""
    return Candidate(draft, skill, parent, gain, (draft.component or "",), draft.rationale, draft.iteration)


def _reject_child(state: State, draft: Draft, run: int) -> None:
    """What the model is told does not depend on when the verdict was certain."""
    told = f"no improvement: the parent scored {total(draft.parent_scores):g} on the minibatch"
    details = f", certain after {run} of {len(draft.minibatch)} cases"
    if draft.child_scores:
        details = f", the child {total(draft.child_scores):g}"
    state.memory.lose(draft.candidate or "", draft.parent or "", draft.minibatch)
    state.reject(draft, EventKind.CANDIDATE_REJECTED, told, details)


def validate(state: State, pool: Pool, candidate: Candidate) -> Steps[None]:
    """The candidate on the validation split, and into the pool unless the policy gives it up."""
    draft, skill, policy = candidate.draft, candidate.skill, state.strategy.validate
    parent = pool.entry(candidate.parent).scores
    outcomes: dict[str, Outcome] = {}
    for part in policy.chunks(pool.cases, seed=state.settings.seed, iteration=draft.iteration):
        fresh = yield from state.evaluate(draft, skill, part, "validation")
        if state.child_failed(draft, fresh):
            return
        outcomes |= fresh
        if len(outcomes) < len(pool.cases):
            race = Race(scores_of(outcomes), parent, pool.best.mean, len(pool.cases))
            if why := policy.hopeless(race):
                state.memory.drop(skill.digest)
                state.reject(draft, EventKind.CANDIDATE_REJECTED, f"given up in validation: {why}")
                return
    enter(state, pool, candidate, outcomes)


def enter(
    state: State, pool: Pool, candidate: Candidate, outcomes: dict[str, Outcome], merged: int | None = None
) -> bool:
    """Put a validated candidate into the pool unless its cost grew too far; close its event. Whether it entered."""
    draft, best = candidate.draft, pool.best.mean
    cost = state.cost_of(candidate.skill, outcomes)
    if refusal := state.too_dear(pool, cost):
        state.memory.drop(candidate.skill.digest)
        state.reject(draft, EventKind.CANDIDATE_REJECTED, *refusal)
        return False
    entry = pool.add(
        candidate.skill,
        scores_of(outcomes),
        iteration=draft.iteration,
        parent=candidate.parent,
        merged=merged,
        component="+".join(candidate.components),
        rationale=candidate.rationale,
        cost=cost,
    )
    if entry.mean > best:
        state.improved = max(state.improved, candidate.last)
    draft.text = None
    after = f"{total(draft.child_scores):g}" if draft.child_scores else "certainly better"
    verdict = f"minibatch {after} after {total(draft.parent_scores):g}; " if draft.parent_scores else ""
    verdict += f"validation mean {entry.mean:.4f}, best so far {best:.4f}"
    state.close(draft, EventKind.CANDIDATE_ACCEPTED, verdict)
    return True
