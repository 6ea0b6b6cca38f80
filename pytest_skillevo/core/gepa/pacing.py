"""How often a search validates: it spends as much on proposals as on validations.

A validation costs as much as many proposals: with 30 validation cases and minibatches of 3, five times as much. A
search that validates every child that passed its minibatch spends most of its rollouts on measuring single small
steps. Here such a child is the parent of the next proposal, until the proposals have cost a validation; then what has
passed is validated as one candidate. Like renting until the rent has reached the price: neither side of the bill can
ever be much larger than the other. Where a validation is cheaper than one proposal, every child is validated.
"""

from __future__ import annotations

from dataclasses import replace

from .pool import Pool
from .proposing import Candidate, propose
from .results import EventKind
from .state import State
from .steps import Steps


def paced(state: State, pool: Pool, width: int) -> Steps[Candidate | None]:
    """The next candidate for validation, or None; `width` of these run side by side."""
    draft = state.begin()
    place = state.strategy.select_parent(pool, seed=state.settings.seed, iteration=draft.iteration)
    candidate = yield from propose(state, pool, draft, place)
    spent, due = draft.spent, state.settings.pace * len(pool.cases)
    # What runs beside it may need as much.
    worst = width * state.worst_case(pool)
    while candidate is not None and spent < due and state.obstacle(pool, worst, width) is None:
        draft = state.begin()
        further = yield from propose(state, pool, draft, place, candidate)
        spent += draft.spent
        candidate = replace(candidate, last=draft.iteration) if further is None else _kept(state, candidate, further)
    return candidate


def _kept(state: State, candidate: Candidate, further: Candidate) -> Candidate:
    """The further candidate with what was changed before it; the step before it ends here."""
    state.close(candidate.draft, EventKind.STEP_KEPT, "passed its minibatch; validated with what follows")
    return replace(
        further,
        gain=candidate.gain + further.gain,
        components=tuple(dict.fromkeys((*candidate.components, *further.components))),
        rationale="\n".join(reason for reason in (candidate.rationale, further.rationale) if reason),
    )
