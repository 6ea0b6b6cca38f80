"""What happens to one job: look, decide whether to review, review, reconcile, hand in the changes; each step is told.

The Reviewer's decision is kept before anything of it is done, and every change is entered under the job's own name: a
job that dies half way goes on where it was, and nothing is entered twice.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..core.draws import seed_of
from ..core.naming import renamed
from ..core.records import NO_USAGE, Usage
from ..core.review.applying import Change, changes
from ..core.review.decision import ReviewDecision, normalised
from ..core.review.policy import PolicyDecision, decide
from ..core.review.prompt import ReviewInput
from ..core.review.reconcile import reconcile
from ..core.review.reviewer import Review, ReviewFailed, Reviewing
from ..core.review.signals import Delta, scan
from ..core.revisions import Action, Revision, Status
from ..core.skill import Skill
from ..store import Proposal, Store
from ..store.learning_records import Pause, Work
from ..store.repository import Repository
from .library import Shelves, scope_of_key
from .settings import Policy, Settings

#: Who is named in the audit trail.
ACTOR = "reviewer"


@dataclass(slots=True)
class Verdict:
    """How a job ended: done, or carried to the next review; what is recorded, and what is counted."""

    done: bool
    result: dict[str, Any]
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, name: str, more: int = 1) -> None:
        """Count something."""
        self.counts[name] = self.counts.get(name, 0) + more


class Pipeline:
    """The steps of a job, on one store with one Reviewer."""

    def __init__(
        self, store: Store, reviewer: Reviewing, settings: Settings, policy: Policy | None, redact: Callable[[str], str]
    ) -> None:
        self._store = store
        self._reviewer = reviewer
        self._settings = settings
        self._policy = policy or (lambda delta, outcome: decide(delta, outcome, settings.policy))
        self._redact = redact

    def run(self, work: Work, review: Callable[[Callable[[], Review | None]], Review | None]) -> Verdict:
        """Carry one job out. `review` runs the call of the Reviewer with a limit of time. Raises what goes wrong."""
        if work.job.decision is not None:
            return self._apply(work, work.job.decision)
        delta = scan(work.session, work.since, work.outcome)
        policy = self._policy(delta, work.outcome)
        record: dict[str, Any] = {"policy": policy.to_json()}
        if not policy.review:
            return Verdict(False, {**record, "ended": "declined"}, {"declined": 1})
        if delta.skill_writes:
            ended = "the agent looked after the skill itself"
            return Verdict(True, {**record, "ended": ended, "events": delta.skill_writes}, {"foreground": 1})
        return self._reviewed(work, delta, policy, review)

    def _reviewed(
        self,
        work: Work,
        delta: Delta,
        policy: PolicyDecision,
        call: Callable[[Callable[[], Review | None]], Review | None],
    ) -> Verdict:
        shelves = self._shelves(work)
        session = work.session
        given = ReviewInput(
            delta.transcript, work.outcome, shelves.shown(session.skills), session.app, session.user, session.id
        )
        seed = seed_of("review", session.id, work.job.seq, work.job.attempts)
        review = call(lambda: self._reviewer.review(given, seed=seed))
        if review is not None and not isinstance(review, Review):
            raise ReviewFailed(f"the Reviewer answered with {type(review).__name__} instead of a Review")
        usage = NO_USAGE if review is None else review.usage
        verdict = Verdict(True, {"policy": policy.to_json(), "usage": usage.to_json()}, {"reviewed": 1})
        _count_usage(verdict, usage)
        if review is not None:
            verdict.result["notes"] = [self._redact(note) for note in review.notes]
            if review.refused_calls:
                verdict.result["refused_calls"] = list(review.refused_calls[:20])
                verdict.add("refused_calls", len(review.refused_calls))
        decision = None if review is None else review.decision
        if review is None or decision is None or decision.is_empty:
            verdict.result["ended"] = "skipped"
            verdict.result["reason"] = self._redact(decision.skip_reason) if decision is not None else ""
            verdict.add("skipped")
            return verdict
        decision, events = reconcile(decision, shelves.known())
        verdict.result["reconciled"] = [event.to_json() for event in events]
        kept = {
            "decision": decision.to_json(),
            "shown": dict(review.shown),
            "result": verdict.result,
            "counts": verdict.counts,
        }
        self._store.learning.keep_decision(work, kept)
        return self._apply(work, kept)

    def _shelves(self, work: Work) -> Shelves:
        session = work.session
        scope = scope_of_key(work.job.scope, session.app, session.user)
        store = self._store.at(work.job.scope)
        repository = Repository(self._store.skills_folder, scope)
        return Shelves.take(repository, store, user_skills=self._settings.user_skills)

    def _apply(self, work: Work, kept: Mapping[str, Any]) -> Verdict:
        """Hand in what was decided."""
        verdict = Verdict(True, dict(kept["result"]), dict(kept["counts"]))
        decision, _ = normalised(kept["decision"])
        shelves = self._shelves(work)
        store = self._store.at(work.job.scope)
        # What an interrupted attempt has entered already is there under this job's name.
        mine = [one for one in store.revisions(limit=_LOOK) if one.source == _source(work)]
        entered = [_told(one, verdict) for one in mine]
        have = {one.skill for one in mine}
        shelf = shelves.shelf(kept["shown"], work.session.skills)
        made, refused = changes(_redacted(decision, self._redact), shelf)
        for change in made:
            folder = _folder(store, change, shelves)
            if folder not in have:
                entered.append(self._enter(work, change, folder, verdict))
        left = [{"name": one.name, "reason": self._redact(one.reason)} for one in refused]
        verdict.result |= {"ended": "proposed" if entered else "refused", "revisions": entered, "refused": left}
        verdict.add("proposed", len(entered))
        verdict.add("refused", len(refused))
        return verdict

    def _enter(self, work: Work, change: Change, folder: str, verdict: Verdict) -> dict[str, Any]:
        """One change as a revision: the gates decide, and while publication is paused a person."""
        store = self._store.at(work.job.scope)
        content = renamed(change.after, folder) if change.after.exists else Skill.absent(folder)
        parent = change.before if change.before.exists else Skill.absent(folder)
        same = (one for one in store.revisions(folder, limit=_LOOK) if one.digest == content.digest)
        waiting = next((one for one in same if one.status in _OPEN), None)
        if waiting is not None:
            verdict.add("known")
            return {"skill": folder, "revision": waiting.id, "status": waiting.status.value, "known": True}
        proposal = Proposal(folder, content, parent, change.action, _source(work), _evidence(work, change))
        reason = self._redact(change.reason) or f"learned from session {work.session.id}"
        if store.learning.is_paused(Pause.PUBLICATION):
            revision = store.add(proposal, status=Status.PENDING_APPROVAL, actor=ACTOR, reason=reason)
        else:
            revision = store.offer(proposal, actor=ACTOR, reason=reason)
        return _told(revision, verdict)


#: How many of the newest revisions are looked through.
_LOOK = 100
_OPEN = (Status.ACTIVE, Status.PENDING, Status.PENDING_EVAL, Status.PENDING_APPROVAL, Status.PUBLISH_FAILED)
#: Where a revision stands that Spec, Safety and Effectiveness let through.
_PASSED = (Status.ACTIVE, Status.PENDING_APPROVAL, Status.PUBLISH_FAILED)


def _source(work: Work) -> str:
    return f"reviewer:{work.job.seq}"


def _told(revision: Revision, verdict: Verdict) -> dict[str, Any]:
    """A revision for the record, counted."""
    verdict.add("gated", revision.status in _PASSED)
    verdict.add("published", revision.status is Status.ACTIVE)
    verdict.add("publish_failed", revision.status is Status.PUBLISH_FAILED)
    return {"skill": revision.skill, "revision": revision.id, "status": revision.status.value}


def _folder(store: Store, change: Change, shelves: Shelves) -> str:
    """The folder of the skill; a new one gets a name that nobody has."""
    if change.action is not Action.CREATE:
        return shelves.folders[change.before.name]
    return store.folder_for(change.name)


def _evidence(work: Work, change: Change) -> dict[str, Any]:
    """What speaks for the change: the outcome of the task that taught it."""
    told: dict[str, Any] = {
        "review": {"job": work.job.seq, "session": work.session.id, "app": work.session.app, "reason": change.reason}
    }
    if work.outcome is not None:
        told["outcome"] = {"status": work.outcome.status, "score": work.outcome.score}
    return told


def _redacted(decision: ReviewDecision, redact: Callable[[str], str]) -> ReviewDecision:
    """The decision without secrets: a model may repeat what it was never meant to see."""

    def clean(value: Any) -> Any:
        if isinstance(value, str):
            return redact(value)
        if isinstance(value, list):
            return [clean(one) for one in value]
        return {key: clean(one) for key, one in value.items()} if isinstance(value, dict) else value

    return normalised(clean(decision.to_json()), salvage=True)[0]


def _count_usage(verdict: Verdict, usage: Usage) -> None:
    if usage.tokens is None:
        verdict.add("reviews_without_tokens")
    else:
        verdict.add("reviewer_tokens", usage.tokens)
